"""The output of commands, as text and as JSON: a module for each kind. Nothing here runs audits."""
