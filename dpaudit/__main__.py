"""`python -m dpaudit` is the command `dpaudit`."""

import os
import sys

if __name__ == "__main__":
    if not sys.flags.safe_path:
        # Python has put the current folder first. No file in it may stand in for a module that
        # dpaudit or its libraries import; it stays, last, where dpaudit itself is in it.
        here = sys.path.pop(0)
        if os.path.dirname(os.path.dirname(__file__)) == here:
            sys.path.append(here)
    from dpaudit.cli import program

    sys.exit(program())
