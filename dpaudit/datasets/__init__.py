"""Real data for audits: the embedded FLIGHT, scikit-learn's diabetes, any CSV file of numbers.

This room knows nothing of mechanisms or audits.
"""

from dpaudit.datasets.catalogue import describe, load, names, read_rows, read_table
from dpaudit.datasets.dataset import Table

__all__ = ["Table", "describe", "load", "names", "read_rows", "read_table"]
