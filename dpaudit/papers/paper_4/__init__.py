"""Paper 4."""
