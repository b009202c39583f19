"""Paper 2."""
