"""The command `dpaudit`: it reads arguments, calls the library, prints, and returns a status.

Results go to stdout and into files, progress and errors to stderr; the exit status is the verdict.
Nothing here computes or certifies anything. `commands` declares the commands and their help,
`running` runs scenarios, modules of `answers` write the other answers.
"""

from dpaudit.cli.app import main
from dpaudit.cli.commands import dpaudit

__all__ = ["dpaudit", "main"]
