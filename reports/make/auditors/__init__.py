"""Auditing tools that pip installs, beside dpaudit on the same draws at the same level."""
