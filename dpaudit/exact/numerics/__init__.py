"""Numerical methods of the exact side: contour inversion, integration, special functions. They know
no law.
"""
