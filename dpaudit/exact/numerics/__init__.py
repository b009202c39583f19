"""Numerical methods of the exact side: contour inversion, quadrature, special functions.

They work on densities, losses and moment functions, and know no mechanism and no law's type.
"""
