"""python -m reports.make [NAME ...]: print the figures and write the pages that are quoted."""

from reports.make.command import main

if __name__ == "__main__":
    raise SystemExit(main())
