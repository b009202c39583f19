"""What an audit says: numbers in, sentences out.

`numbers` writes every number that people read, here and in the rooms above. `headline` says what is
claimed and what is certified, `judgement` holds a certified band or an e-value against that and
says what the audit could have shown, `one_run` does both for an audit of one run, and `relations`
for two audits of one claim. `evidence` has the e-values that several audits may pool.

This room knows curves, bands and numbers. It knows neither how an audit was made nor how its report
looks.
"""

from dpaudit.verdict.headline import Headline, Reference

__all__ = ["Headline", "Reference"]
