"""Paper 3."""
