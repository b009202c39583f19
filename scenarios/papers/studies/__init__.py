"""Experiments of the papers redone, each run by a scenario file with a [study] table that names it."""
