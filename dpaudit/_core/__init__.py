"""What every room may use: checks, types, seeds, files, linear algebra, a user's own modules.

It knows nothing of privacy but the errors that dpaudit raises.
"""
