"""Experiments of paper 2."""
