"""Record anew what calls and commands return: python -m tests.golden.renew. Prints what changed."""

import contextlib
import io
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.golden.calls import CALLS, COMMANDS
from tests.golden.record import RECORD, command, differences, recorded, result, write


def commands() -> dict:
    """The records of all commands."""
    made = {}
    for name in COMMANDS:
        out = io.StringIO()
        capsys = SimpleNamespace(readouterr=lambda out=out: SimpleNamespace(out=out.getvalue()))
        with (
            tempfile.TemporaryDirectory() as folder,
            pytest.MonkeyPatch.context() as patch,
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(io.StringIO()),
        ):
            made[name] = command(name, Path(folder), patch, capsys)
    return made


def main() -> None:
    """Write the record, and print where it differs from the one before."""
    new = {"calls": {name: result(name) for name in CALLS}, "commands": commands()}
    for line in differences(new, recorded()) if RECORD.exists() else ():
        print(line[:300])
    write(new)


if __name__ == "__main__":
    main()
