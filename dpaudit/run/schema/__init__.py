"""The reference of scenarios, from the models of `run.scenario`: as JSON Schema and as a page."""

from dpaudit.run.schema.document import schema
from dpaudit.run.schema.page import page

__all__ = ["page", "schema"]
