"""Exact curves of laws that differ by one zeroed row, for all rows of a database at once.

`families.py` finds the curve of a row and the rows that can be the worst; the other files hold the
formulas, one kind of release each. They know leverages and quadratic forms, not mechanisms.
"""
