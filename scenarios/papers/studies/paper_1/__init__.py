"""Experiments of paper 1."""
