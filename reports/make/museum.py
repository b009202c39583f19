"""The museum of real faults: every pair of scenarios audited over many seeds, and its page.

`reports/museum.toml` says by hand what was at fault; scenarios/museum has the pair of each, before
and after. A scenario with the line "# environment: NAME" above it audits a released package, and
runs in the environment of that name (scenarios/libraries/environments.py); the others run here.
What came of each is kept in reports/museum.json.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from dpaudit._core.user_code import beside
from dpaudit.auditing.engine import audit_mechanism
from dpaudit.auditing.result import Subject
from dpaudit.auditing.settings import Drawing
from dpaudit.errors import DpauditError
from dpaudit.run import Scenario
from dpaudit.run.execute import loaded_data, loaded_mechanism
from dpaudit.run.scenario.audits import parsed
from dpaudit.run.scenario.neighbour import Added, Replaced, Zeroed
from reports.make import page

SEEDS = 20
SCENARIOS = Path("scenarios") / "museum" / "museum.toml"
ENVIRONMENTS = Path(".environments")
FACTS, OUTCOMES, PAGE = (page.REPORTS / f"museum.{kind}" for kind in ("toml", "json", "md"))
GITHUB = "https://github.com/"
KINDS = ("before", "after")
HEAD = (
    "fault",
    "package, versions before → after",
    "thread",
    "draws a side",
    "caught",
    "false alarms",
    "least ε certified, claimed",
    "how",
)


@dataclass(frozen=True)
class Fault:
    """A fault as it is told. package, before, after : of the versions, or of the changed code.

    fault : in a few words. threads : "owner/repository/issues/number". reported, mended : by whom
    and when.
    """

    name: str
    package: str
    before: str
    after: str
    fault: str
    threads: tuple[str, ...]
    reported: str
    mended: str

    @property
    def versions(self) -> str:
        """Both, or the one thread that has both."""
        return self.before if self.before == self.after else f"{self.before} → {self.after}"

    def scenario(self, kind: str) -> Path:
        """Of the version `kind`, "before" or "after"."""
        return SCENARIOS.with_name(f"{SCENARIOS.name}:museum-{self.name}-{kind}")


@dataclass(frozen=True)
class Outcome:
    """Audits of one scenario. violated : of so many seeds. certified : the least ε (or μ) that any
    seed certified at the claim's own δ. claimed : the same of the claim. seconds : CPU, all seeds.
    """

    violated: int
    seeds: int
    draws: int
    claimed: float
    certified: float
    seconds: float


def faults(folder: Path = Path()) -> list[Fault]:
    """All of them, in the order of the file."""
    content = tomllib.loads((folder / FACTS).read_text(encoding="utf-8"))
    return [
        Fault(name, **{**said, "threads": tuple(said["threads"])}) for name, said in content.items()
    ]


def environment(scenario: Path) -> str:
    """The environment that the scenario runs in, or "" for this one."""
    stated = re.search(r"^# environment: (\S+)$", parsed(scenario).text, re.MULTILINE)
    return stated[1] if stated else ""


def python_of(scenario: Path) -> Path | None:
    """The interpreter that runs it; None where its environment has not been made."""
    name = environment(scenario)
    found = ENVIRONMENTS / name / "bin" / "python" if name else Path(sys.executable)
    return found.absolute() if found.exists() else None


def audited(scenario: Path, seeds: int) -> Outcome:
    """The audits of a scenario, where its package is. Raises `DpauditError` where that is missing,
    or where the audits fail.
    """
    python = python_of(scenario)
    if python is None:
        name = environment(scenario)
        raise DpauditError(
            f"{scenario.name} needs .environments/{name}: "
            f"make it with `python scenarios/libraries/environments.py {name}`"
        )
    if python == Path(sys.executable).absolute():
        return audit(scenario, seeds)
    command = [python, "-m", "reports.make", "museum", "--audit", scenario, "--seeds", seeds]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if done.returncode:
        raise DpauditError(f"{scenario.name}: {(done.stderr.strip() or 'no message')[-500:]}")
    return Outcome(**json.loads(done.stdout))


def audit(path: Path, seeds: int) -> Outcome:
    """The audits of a scenario, in this process: one pair, one mechanism, every seed."""
    scenario, before = Scenario.load(path), _cpu()
    with beside(scenario.modules):
        data, mechanism = loaded_data(scenario).database, loaded_mechanism(scenario)
        assert isinstance(scenario.neighbour, Added | Replaced | Zeroed)
        pair = scenario.neighbour.pair(mechanism, data)
        subject = Subject(mechanism, pair, scenario.name)
        results = [
            audit_mechanism(subject, scenario.override(None, seed).settings, Drawing())
            for seed in range(seeds)
        ]
    heads = [result.headline for result in results]
    assert heads[0].claimed is not None
    return Outcome(
        sum(result.verdict == "violated" for result in results),
        seeds,
        scenario.settings.samples,
        heads[0].claimed,
        min(head.certified for head in heads),
        _cpu() - before,
    )


def main(arguments: Sequence[str]) -> int:
    """Audit, keep, and make the page; 0. Raises `DpauditError`."""
    given = _parser().parse_args(arguments)
    if given.audit:
        print(json.dumps(asdict(audit(given.audit, given.seeds))))
        return 0
    told = faults()
    if unknown := sorted(set(given.names) - {fault.name for fault in told}):
        raise DpauditError(f"the museum has no {', '.join(unknown)}")
    outcomes = _kept()
    for fault in told:
        if not given.page and fault.name in (given.names or [fault.name]):
            for kind in KINDS:
                outcomes[f"{fault.name}-{kind}"] = _said(fault.scenario(kind), given.seeds)
            _keep(outcomes)
    page.write(PAGE, render([fault for fault in told if _complete(fault, outcomes)], outcomes))
    print(PAGE)
    return 0


def _said(scenario: Path, seeds: int) -> Outcome:
    found = audited(scenario, seeds)
    print(f"{scenario.name}: {found.violated} of {found.seeds}, {found.seconds:.0f} s", flush=True)
    return found


def _complete(fault: Fault, outcomes: Mapping[str, Outcome]) -> bool:
    return all(f"{fault.name}-{kind}" in outcomes for kind in KINDS)


def _kept() -> dict[str, Outcome]:
    if not OUTCOMES.is_file():
        return {}
    content = json.loads(OUTCOMES.read_text(encoding="utf-8"))
    return {name: Outcome(**said) for name, said in content.items()}


def _keep(outcomes: Mapping[str, Outcome]) -> None:
    content = {name: asdict(found) for name, found in sorted(outcomes.items())}
    page.write(OUTCOMES, json.dumps(content, indent=1) + "\n")


def render(told: Sequence[Fault], outcomes: Mapping[str, Outcome]) -> str:
    """The page: how many were caught, how many were not there, and the table."""
    pairs = [tuple(outcomes[f"{fault.name}-{kind}"] for kind in KINDS) for fault in told]
    return page.render(
        "museum.md",
        faults=len(told),
        released=sum(bool(environment(fault.scenario("before"))) for fault in told),
        caught=sum(before.violated == before.seeds for before, _ in pairs),
        false_alarms=sum(after.violated for _, after in pairs),
        audits=sum(after.seeds for _, after in pairs),
        seeds=max((found.seeds for pair in pairs for found in pair), default=SEEDS),
        level=f"{Scenario.load(told[0].scenario('before')).settings.level:g}",
        minutes=f"{sum(found.seconds for pair in pairs for found in pair) / 60:.0f}",
        rows=page.table(HEAD, map(_cells, told, pairs)),
    )


def _cells(fault: Fault, pair: tuple[Outcome, ...]) -> tuple[str, ...]:
    before, after = pair
    place = environment(fault.scenario("before"))
    return (
        fault.fault,
        f"{fault.package}, {fault.versions}",
        ", ".join(f"[{_short(thread)}]({GITHUB}{thread})" for thread in fault.threads),
        f"{before.draws:,}",
        f"{before.violated} of {before.seeds}",
        f"{after.violated} of {after.seeds}",
        f"{page.number(before.certified, 3)}, {page.number(before.claimed, 3)}",
        f"released: `{place}`" if place else "re-enacted",
    )


def _short(thread: str) -> str:
    """owner/repository/issues/7 as owner/repository#7."""
    owner, repository, _, number = thread.split("/")
    return f"{owner}/{repository}#{number}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=page.command("museum"),
        description=f"Audit each fault before and after, over many seeds, and make {PAGE}.",
    )
    parser.add_argument("names", nargs="*", metavar="FAULT", help="these alone")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="of each scenario (%(default)s)")
    parser.add_argument("--page", action="store_true", help="audit nothing: make the page")
    parser.add_argument("--audit", type=Path, help=argparse.SUPPRESS)  # one scenario, in here
    return parser


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
