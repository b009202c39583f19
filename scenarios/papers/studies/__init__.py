"""Experiments of the papers, done again; each is run by a scenario file with a [study] table."""
