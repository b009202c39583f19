"""Figures of the exact side: time and error of spectra, and printed formulas."""
