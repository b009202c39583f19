"""Exact curves of laws that differ by one zeroed row, for all rows of a database at once."""
