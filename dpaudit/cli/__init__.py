"""The command `dpaudit`: it reads arguments, calls the library, prints, and returns a status.

Results go to stdout and into files, progress and errors to stderr; the exit status is the verdict.
Nothing here computes or certifies anything, and no other package of dpaudit imports this one.

`app` runs a command and prints errors as lines; `commands` and `options` declare the commands and
their help. `console` prints according to --quiet, --verbose and --json, and defines the exit
statuses. `defaults` reads the project's pyproject.toml, `shipped` lists the scenarios that come
with dpaudit. `running` runs scenarios and prints verdicts; modules of `answers` write the other
answers. `table` aligns columns and `progress` shows progress.
"""

from dpaudit.cli.app import main
from dpaudit.cli.commands import dpaudit

__all__ = ["dpaudit", "main"]
