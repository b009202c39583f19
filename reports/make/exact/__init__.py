"""Figures of the exact side."""
