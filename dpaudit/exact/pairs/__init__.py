"""Exact curves of two laws, a file for each kind of pair.

`dispatch.py` picks the file by the types of the laws. No file knows a mechanism or a database.
"""
