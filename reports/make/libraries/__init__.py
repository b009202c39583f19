"""Released packages, audited from outside: reports/libraries.md and .html.

`facts` reads what is said by hand of a package and of its findings (reports/libraries/NAME.toml),
`audits` runs its scenarios in its environment, `outcome` keeps what came of each
(reports/libraries/NAME.json), `report` makes the pages of both, `letter` what a maker is sent.
What nobody was told has files of the same names in reports/embargo.
"""
