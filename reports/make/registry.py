"""What can be made: a name on the command line for each figure or page, without an import."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any


@dataclass(frozen=True)
class Measurement:
    """A name with what it measures and the function that does it.

    name : on the command line. what : it measures, in a line. feeds : the page that it writes, or
    the page that quotes what it prints. time : that it took when it was last measured, as a page
    says; "" where none does. call : "module:function". extra : of dpaudit that it needs. options :
    whether it takes the arguments that follow its name; function(arguments) is then the exit
    status.
    """

    name: str
    what: str
    feeds: str
    call: str
    time: str = ""
    extra: str = ""
    options: bool = False

    def run(self, arguments: Sequence[str] = ()) -> int:
        """Import the module and make it; the exit status."""
        module, _, function = self.call.partition(":")
        made: Callable[..., Any] = getattr(import_module(module), function)
        if self.options:
            return int(made(list(arguments)))
        made()
        return 0


MEASURED = "docs/measured.md"
MEASUREMENTS = (
    Measurement(
        "oracle",
        "certified δ by the score `auto` as a share of what the true likelihood ratio certifies",
        "reports/oracle.md",
        "reports.make.audits.oracle:main",
        options=True,
    ),
    Measurement(
        "few",
        "what 20 to 500 draws a side certify, by `auto` and the true loss; coverage; shared noise",
        "reports/few.md",
        "reports.make.audits.few:report",
    ),
    Measurement(
        "estimate",
        "error of the estimated δ, beside counts, paper 1's estimator and DP-Auditorium",
        "reports/estimate.md",
        "reports.make.audits.estimate:report",
    ),
    Measurement(
        "oracle-ratio",
        "the same share on one audit: cancer data, ALS, 10⁶ draws a side",
        "printed only",
        "reports.make.audits.oracle_ratio:report",
    ),
    Measurement(
        "paper-size",
        "time and memory of an audit of 10⁷ + 10⁶ draws a side, the sample sizes of paper 1",
        MEASURED,
        "reports.make.audits.paper_size:report",
        time="76 s",
    ),
    Measurement(
        "draws",
        "speed of drawing ALS outputs as a share of the speed of raw normals",
        MEASURED,
        "reports.make.audits.draws:report",
    ),
    Measurement(
        "many-draws",
        "time and memory of an audit of up to 10⁸ draws a side",
        MEASURED,
        "reports.make.audits.many_draws:report",
        time="40 CPU s",
    ),
    Measurement(
        "wide",
        "CPU time of an audit of 1,000 columns",
        MEASURED,
        "reports.make.audits.wide:report",
        time="30 CPU s",
    ),
    Measurement(
        "rates",
        "CPU time a draw by step, bytes that workers send; 10⁹ draws a side on paper",
        "docs/many-draws.md",
        "reports.make.audits.rates:report",
        extra="dask",
    ),
    Measurement(
        "power",
        "the excess over a claim that an audit shows at worst, and how often five shapes showed it",
        "reports/power.md",
        "reports.make.audits.power:report",
    ),
    Measurement(
        "anytime",
        "audits that stop: how often a true claim is rejected, draws until a false one is",
        "reports/anytime.md",
        "reports.make.audits.anytime:report",
    ),
    Measurement(
        "ledger",
        "evidence of many nights: false alarms over histories, nights until an excess is found",
        "reports/ledger.md",
        "reports.make.audits.ledger:report",
    ),
    Measurement(
        "zoo",
        "every mechanism of the zoo over 20 seeds: broken ones caught, sound ones not",
        "reports/zoo.md",
        "reports.make.audits.zoo:report",
        time="57 CPU min",
    ),
    Measurement(
        "museum",
        "real faults of released software over 20 seeds: caught before they were mended, not after",
        "reports/museum.md",
        "reports.make.museum:main",
        time="6 CPU min",
        options=True,
    ),
    Measurement(
        "sniper",
        "lower bounds on ε for DP-Sniper's 20 mechanisms with a tenth of its draws",
        "reports/sniper.md",
        "reports.make.audits.sniper:report",
    ),
    Measurement(
        "search",
        "the worst neighbour found without theory, against the exact one and a uniform search",
        "reports/search.md",
        "reports.make.audits.search:report",
        time="189 CPU s",
    ),
    Measurement(
        "coverage",
        "share of simulated audits whose certified band exceeds the truth",
        "reports/coverage.md",
        "reports.make.band.coverage:report",
    ),
    Measurement(
        "interval",
        "share of simulated audits whose two-sided interval holds what the score shows",
        "reports/interval.md",
        "reports.make.interval.coverage:report",
    ),
    Measurement(
        "bands",
        "the certified band against other simultaneous bands, and what small δ takes",
        "reports/bands.md",
        "reports.make.band.bands:report",
    ),
    Measurement(
        "auditors",
        "auditing tools that pip installs, against dpaudit on the same draws",
        "reports/auditors.md",
        "reports.make.auditors.compare:report",
        time="45 min",
        extra="auditors",
    ),
    Measurement(
        "networks",
        "certified δ by a network trained for one ε at a time, beside `auto`, on T9 to T14",
        "reports/networks.md",
        "reports.make.auditors.networks:main",
        options=True,
    ),
    Measurement(
        "one-run",
        "ε certified of one run, beside jax-privacy; DP-SGD by steps; false certificates",
        "reports/one-run.md",
        "reports.make.one_run.report:report",
        extra="auditors",
    ),
    Measurement(
        "worst-case",
        "time of the exact worst case of ALS over all rows, against row by row",
        MEASURED,
        "reports.make.exact.worst_case:report",
    ),
    Measurement(
        "every-law",
        "time of the exact worst case of every row-separable law over all rows of FLIGHT",
        MEASURED,
        "reports.make.exact.every_law:report",
    ),
    Measurement(
        "pair-speed",
        "time of 100 ε of a Gaussian pair, both directions",
        MEASURED,
        "reports.make.exact.pair_speed:report",
    ),
    Measurement(
        "peers",
        "error and time of Gaussian pairs, against gx2 and Monte Carlo",
        MEASURED,
        "reports.make.exact.peers:report",
        extra="peers",
    ),
    Measurement(
        "printed",
        "paper 1's lemmas 10 and 11 as printed: exact δ, and an audit of each",
        "docs/printed-bounds.md",
        "reports.make.exact.printed:report",
    ),
    Measurement(
        "claims",
        "δ that Rényi claims allow, against dp-accounting, the printed conversion, linear programs",
        "reports/claims.md",
        "reports.make.exact.claims:report",
        extra="test",
    ),
    Measurement(
        "accuracy",
        "error of the exact curves, law by law, against references derived apart",
        "reports/accuracy.md",
        "reports.make.exact.accuracy:report",
        extra="test",
    ),
    Measurement(
        "findings",
        "every numbered statement of the papers, tested by search",
        "reports/findings.md, .html, papers/letter-paper-N.md",
        "reports.make.findings.command:main",
        options=True,
    ),
    Measurement(
        "libraries",
        "released packages, each mechanism against its own claim, in environments of their own",
        "reports/libraries.md, .html",
        "reports.make.libraries.command:main",
        options=True,
    ),
    Measurement(
        "gallery",
        "exact spectra, calibrations and compositions on FLIGHT, with figures",
        "reports/exact/",
        "reports.make.gallery.command:main",
        time="half a minute",
        options=True,
    ),
    Measurement(
        "house",
        "lines, files, jumps of a call, circles of imports, depth of the tests",
        "docs/architecture.md",
        "reports.make.house:report",
    ),
)
BY_NAME = {one.name: one for one in MEASUREMENTS}
