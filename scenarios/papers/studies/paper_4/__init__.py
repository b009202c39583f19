"""Experiments of paper 4."""
