"""Paper 1."""
