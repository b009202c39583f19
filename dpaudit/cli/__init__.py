"""The command line. Results on stdout or in files, progress and errors on stderr, the verdict as
exit status.
"""

from dpaudit.cli.app import main

__all__ = ["main"]
