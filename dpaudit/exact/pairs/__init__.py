"""Exact curves of two laws, a file per kind of pair; dispatch.py finds the file. It knows no
mechanism.
"""
