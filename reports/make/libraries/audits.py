"""Run the scenarios of packages in their environments, confirm what is violated, make the pages."""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dpaudit.errors import DpauditError
from reports.make import page
from reports.make.libraries import letter, report
from reports.make.libraries.facts import SCENARIOS, Package, interpreter, packages
from reports.make.libraries.outcome import ERROR, Outcome, left, read, write

# another seed, and 1 − 10⁻⁶; where that needs more draws, four times as many
SEED, LEVEL, MORE = "1", "0.999999", 4
IMPORTED = re.compile(r"^from (\w+) import", re.MULTILINE)
VERSION = "import importlib.metadata as m, sys; print(m.version(sys.argv[1]))"


def main(arguments: Sequence[str]) -> int:
    """0. Raises `DpauditError` for an unknown package or environment."""
    given = _parser().parse_args(arguments)
    if given.letter:
        for path in [path for one in packages(given.packages) for path in letter.write(one)]:
            print(path)
        return 0
    for package in [] if given.page else packages(given.packages):
        _kept(package, given.again)
    for path in report.write(packages([])):
        print(path)
    return 0


def _kept(package: Package, again: bool) -> None:
    def keep(outcomes: Mapping[str, Outcome]) -> None:
        write(package, outcomes)

    keep(audited(package, read(package), again, keep))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=page.command("libraries"),
        description="Audit the scenarios of scenarios/libraries that were not audited as they are "
        "now, each in its environment, and make reports/libraries.md and .html.",
    )
    parser.add_argument("packages", nargs="*", metavar="PACKAGE", help="these alone")
    parser.add_argument("--again", action="store_true", help="audit all of their scenarios anew")
    parser.add_argument("--page", action="store_true", help="audit nothing: make the pages")
    parser.add_argument(
        "--letter", action="store_true", help="audit nothing: letters to the makers, with scripts"
    )
    return parser


def audited(
    package: Package,
    known: Mapping[str, Outcome],
    again: bool,
    keep: Callable[[Mapping[str, Outcome]], None],
) -> dict[str, Outcome]:
    """The outcomes of all scenarios; those that are known are not made anew, unless `again`.

    keep : called with all outcomes after each scenario, so that nothing is lost. Raises
    `DpauditError` where the environment is missing or holds another version.
    """
    python = _python(package)
    hashes, files = inputs(package), package.audits()
    outcomes = {name: one for name, one in known.items() if not again}
    for name in left(hashes, outcomes):
        print(f"{name} ...", flush=True)
        outcomes[name] = _audit(python, files[name].path, hashes[name])
        keep(outcomes)
        print(f"  {outcomes[name].verdict}", flush=True)
    return outcomes


def _audit(python: Path, scenario: Path, inputs: str) -> Outcome:
    """One scenario; a violation is confirmed."""
    first = _run(python, scenario, inputs)
    if not first.violated:
        return first
    for draws in (first.draws, MORE * first.draws):
        second = _run(python, scenario, inputs, "--seed", SEED, "--level", LEVEL, "--draws", draws)
        if second.violated:
            return replace(first, confirmed=second.certified)
    return first


def _run(python: Path, scenario: Path, inputs: str, *options: str | int) -> Outcome:
    with tempfile.TemporaryDirectory() as folder:
        command = [python, "-m", "dpaudit", "run", scenario, "--out", folder, *options]
        before = _cpu()
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
        record = _record(Path(folder))
        if record is None:
            lines = done.stderr.strip().splitlines() or ["no message"]
            return Outcome(inputs, ERROR, reason=lines[-1])
        return Outcome.of(inputs, record, _cpu() - before)


def _record(folder: Path) -> dict[str, Any] | None:
    path = folder / "result.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _python(package: Package) -> Path:
    """The interpreter that runs dpaudit: of the environment, where dpaudit is in it."""
    python = interpreter(package.environment)
    asked = subprocess.run(
        [python, "-c", VERSION, package.package], capture_output=True, text=True, check=False
    )
    if asked.stdout.strip() != package.version:
        has = asked.stdout.strip() or "no version"
        raise DpauditError(
            f"the environment {package.environment} has {has} of {package.package}, and "
            f"{package.version} is audited: make it again with {SCENARIOS / 'environments.py'}"
        )
    listed = SCENARIOS / "environments" / f"{package.environment}.txt"
    alone = "# dpaudit: no" in listed.read_text(encoding="utf-8").splitlines()
    return Path(sys.executable) if alone else python


def inputs(package: Package) -> dict[str, str]:
    """By its name, a hash of each scenario, as it is read, and of the code and data it names."""
    beside = [
        path
        for path in sorted(package.scenarios.parent.iterdir())
        if path.is_file() and path.suffix != ".toml"
    ]
    hashes = {}
    for name, file in package.audits().items():
        text = json.dumps(file.content, sort_keys=True, default=str)
        read = hashlib.sha256(package.version.encode())
        code = {path for path in beside if path.suffix == ".py" and path.stem in text}
        imported = IMPORTED.findall("".join(path.read_text(encoding="utf-8") for path in code))
        code |= {path for path in beside if path.suffix == ".py" and path.stem in imported}
        for path in beside:
            # a list of words is read by the code
            if path in code or path.stem in text or path.suffix == ".txt":
                read.update(path.read_bytes())
        read.update(text.encode())
        hashes[name] = read.hexdigest()[:16]
    return {name: hashes[name] for name in package.mechanisms}
