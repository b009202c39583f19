"""Scores of a few hundred draws or less."""
