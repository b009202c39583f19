"""The reference of scenarios: what the readers ask for, as JSON Schema and as a page.

The readers of `run.scenario` are run on small files, one of each kind, and every key that they ask
for is noted with its check and its default (`asked`). `types` says what a check lets pass,
`summaries` what a key means; `document` and `page` write it down.
"""

from dpaudit.run.schema.document import schema
from dpaudit.run.schema.page import page

__all__ = ["page", "schema"]
