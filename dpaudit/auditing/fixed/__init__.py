"""Audits with a number of draws that is fixed in advance: of at most 500 a side, and of more."""
