"""The commands. Each reads its arguments, calls other rooms, prints, and returns an exit status.

What a command needs is imported inside it, so that --help is quick. A module declares the commands
of one kind; all are in one group.
"""

from dpaudit.cli.commands.group import dpaudit

# each module adds its commands to the group, in this order
from dpaudit.cli.commands import auditing, canaries, starting, exact, reports  # isort: skip

__all__ = ["auditing", "canaries", "dpaudit", "exact", "reports", "starting"]
