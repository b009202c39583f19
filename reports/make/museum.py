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
import subprocess
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from dpaudit._core.user_code import importable_from
from dpaudit.auditing.engine import audit_mechanism
from dpaudit.auditing.settings import Drawing
from dpaudit.auditing.subject import Subject
from dpaudit.errors import DpauditError
from dpaudit.run import Scenario
from dpaudit.run.execute import loaded_data, loaded_mechanism
from dpaudit.run.scenario.files import parsed
from dpaudit.run.scenario.neighbour import Added, Replaced, Zeroed
from reports.make import page
from reports.make.libraries.facts import interpreter
from reports.make.timing import clock

SEEDS = 20
SCENARIOS = Path("scenarios") / "museum" / "museum.toml"
FACTS, OUTCOMES, PAGE = (page.REPORTS / f"museum.{kind}" for kind in ("toml", "json", "md"))
GITHUB = "https://github.com/"
KINDS = ("before", "after")
HEAD = page.heads(
    "fault | package, versions before → after | thread | draws a side | caught | false alarms "
    "| least ε certified, claimed | how"
)


@dataclass(frozen=True)
class Fault:
    """A fault as `reports/museum.toml` describes it.

    package, before, after : the package and its versions, or the changed code.
    fault : in a few words. threads : "owner/repository/issues/number".
    reported, mended : by whom and when.
    """

    name: str
    package: str
    before: str
    after: str
    fault: str
    threads: Sequence[str]
    reported: str
    mended: str

    def scenario(self, kind: str) -> Path:
        """The scenario of the version `kind`, "before" or "after"."""
        return SCENARIOS.with_name(f"{SCENARIOS.name}:museum-{self.name}-{kind}")


@dataclass(frozen=True)
class Outcome:
    """The audits of one scenario.

    violated : how many of the seeds said so. draws : a side, of one audit.
    certified : the least ε (or μ) that any seed certified at the claim's own δ.
    claimed : the claim's ε (or μ) there. seconds : CPU, all seeds.
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
    return [Fault(name, **fields) for name, fields in content.items()]


def environment(scenario: Path) -> str:
    """The environment that the scenario runs in, or "" for this one."""
    line = re.search(r"^# environment: (\S+)$", parsed(scenario).text, re.MULTILINE)
    return line[1] if line else ""


def audited(scenario: Path, seeds: int) -> Outcome:
    """The audits of a scenario, in the environment of its package.

    Raises `DpauditError` where that environment is missing or the audits fail.
    """
    name = environment(scenario)
    if not name:
        return audit(scenario, seeds)
    python = interpreter(name)
    command = [python, "-m", "reports.make", "museum", "--audit", scenario, "--seeds", seeds]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if done.returncode:
        raise DpauditError(f"{scenario.name}: {(done.stderr.strip() or 'no message')[-500:]}")
    return Outcome(**json.loads(done.stdout))


def audit(path: Path, seeds: int) -> Outcome:
    """The audits of a scenario, in this process: one pair, one mechanism, every seed."""
    scenario = Scenario.load(path)
    with clock() as spent, importable_from(scenario.modules):
        dataset = loaded_data(scenario)
        data, mechanism = dataset.database, loaded_mechanism(scenario, dataset)
        assert isinstance(scenario.neighbour, Added | Replaced | Zeroed)
        subject = Subject(mechanism, scenario.neighbour.pair(mechanism, data), scenario.name)
        results = [
            audit_mechanism(subject, scenario.override(None, seed).settings, Drawing())
            for seed in range(seeds)
        ]
    violated = sum(result.verdict == "violated" for result in results)
    claimed = results[0].headline.claimed
    assert claimed is not None
    certified = min(result.headline.certified for result in results)
    draws = scenario.settings.draws
    return Outcome(violated, seeds, draws, claimed, certified, spent.cpu)


def main(arguments: Sequence[str]) -> int:
    """Audit, keep the outcomes, and make the page; 0. Raises `DpauditError`."""
    options = _parser().parse_args(arguments)
    if options.audit:
        print(json.dumps(asdict(audit(options.audit, options.seeds))))
        return 0
    every = faults()
    if unknown := sorted(set(options.names) - {fault.name for fault in every}):
        raise DpauditError(f"the museum has no {', '.join(unknown)}")
    content = json.loads(OUTCOMES.read_text(encoding="utf-8")) if OUTCOMES.is_file() else {}
    for fault in [] if options.page else every:
        if fault.name in (options.names or [fault.name]):
            for kind in KINDS:
                scenario = fault.scenario(kind)
                outcome = audited(scenario, options.seeds)
                counts = f"{outcome.violated} of {outcome.seeds}, {outcome.seconds:.0f} s"
                print(f"{scenario.stem}: {counts}", flush=True)
                content[f"{fault.name}-{kind}"] = asdict(outcome)
            page.write(OUTCOMES, json.dumps(dict(sorted(content.items())), indent=1) + "\n")
    outcomes = {name: Outcome(**fields) for name, fields in content.items()}
    complete = [
        fault for fault in every if all(f"{fault.name}-{kind}" in outcomes for kind in KINDS)
    ]
    page.write(PAGE, render(complete, outcomes))
    print(PAGE)
    return 0


def render(faults: Sequence[Fault], outcomes: Mapping[str, Outcome]) -> str:
    """The page: how many were caught, how many were not there, and the table."""
    pairs = [tuple(outcomes[f"{fault.name}-{kind}"] for kind in KINDS) for fault in faults]
    return page.render(
        "museum.md",
        faults=len(faults),
        released=sum(bool(environment(fault.scenario("before"))) for fault in faults),
        caught=sum(before.violated == before.seeds for before, _ in pairs),
        false_alarms=sum(after.violated for _, after in pairs),
        audits=sum(after.seeds for _, after in pairs),
        seeds=max((outcome.seeds for pair in pairs for outcome in pair), default=SEEDS),
        level=f"{Scenario.load(faults[0].scenario('before')).settings.level:g}",
        minutes=f"{sum(outcome.seconds for pair in pairs for outcome in pair) / 60:.0f}",
        rows=page.table(HEAD, map(_cells, faults, pairs)),
    )


def _cells(fault: Fault, pair: tuple[Outcome, ...]) -> tuple[str, ...]:
    before, after = pair
    place = environment(fault.scenario("before"))
    same = fault.before == fault.after  # one thread has both
    versions = fault.before if same else f"{fault.before} → {fault.after}"
    return (
        fault.fault,
        f"{fault.package}, {versions}",
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
