"""High-precision reference values, computed without the package under test."""
