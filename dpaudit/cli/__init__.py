"""The command `dpaudit`: it reads arguments, calls other rooms, prints, and returns a status.

Results go to stdout and into files, progress and errors to stderr; the exit status is the verdict.
Nothing here computes or certifies anything, and no other room imports this one.

`app` runs a command and turns errors into lines; `commands` and `options` declare the commands and
their help. `console` knows how much is to be printed and what exit statuses mean, `defaults` what
the project sets in pyproject.toml, `shipped` the scenarios that come with dpaudit. `running` runs
scenarios and prints verdicts; modules of `answers` write the other answers. `table` aligns columns
and `progress` shows progress.
"""

from dpaudit.cli.app import main
from dpaudit.cli.commands import dpaudit

__all__ = ["dpaudit", "main"]
