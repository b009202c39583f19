"""What every room may use: checks, types, seeds, files, linear algebra. It knows nothing of privacy
but its errors.
"""
