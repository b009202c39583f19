"""Experiments of paper 3."""
