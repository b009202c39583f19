"""One question to each auditing tool on the same draws, in the tool's own default settings.

The tools of `tools.py` certify from a score, here the first number of the output. The others learn
a score of their own. Two of these are not on PyPI, and pin packages of years ago; with newer ones
the parts used here run, too:

    pip install tensorflow-cpu google-vizier "etils[array-types]" torch tensorboard
    pip install --no-deps git+https://github.com/eth-sri/dp-sniper \
      "git+https://github.com/google/differential-privacy#subdirectory=python/dp_auditorium"

Their classes are imported where they are asked, so that one that is missing stops no other.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import dpaudit as dp
from dpaudit._core.types import Array
from dpaudit.scoring import Sides
from reports.make.auditors import tools
from reports.make.audits.seconds import fastest, in_fresh_process
from reports.make.page import heads, number, table
from reports.make.tasks import TASKS, Task

LAPLACE, NORMAL = TASKS[3], TASKS[2]
DRAWS: dict[str, tuple[Task, int]] = {  # the pair, draws a side
    "Laplace, 10,000": (LAPLACE, 10_000),
    "Laplace, 100,000": (LAPLACE, 100_000),
    "30 numbers, 10,000": (NORMAL, 10_000),
}
SEED = 1
AT_DELTA, PURE, DELTA, ESTIMATE = "ε at δ = 0.001", "ε at δ = 0", "δ(0.5)", "δ(0), estimate"
READ: dict[str, Callable[[Any], Array]] = {  # from what has `delta_at` and `epsilon_at`
    AT_DELTA: lambda curve: curve.epsilon_at(np.array(0.001)),
    PURE: lambda curve: curve.epsilon_at(np.array(0.0)),
    DELTA: lambda curve: curve.delta_at(np.array(0.5)),
    ESTIMATE: lambda curve: curve.delta_at(np.array(0.0)),
}
MARK = "†"  # a bound above the truth
Answered = tuple[Sequence[float], float]  # the answers to `Tool.questions`, and CPU seconds
NONE: Answered = [np.nan] * len(READ), np.nan


@dataclass(frozen=True)
class Tool:
    """ask : (P, Q) → an answer to each of `questions`. learns : it needs no score."""

    questions: Sequence[str]
    ask: Callable[[Array, Array], Sequence[float]]
    learns: bool = True


def whole_curve(P: Array, Q: Array) -> list[float]:
    """dpaudit's answers to all of READ, from one audit."""
    result = dp.audit_samples(P, Q, rng=SEED)
    read_from = dict.fromkeys(READ, result.certified) | {ESTIMATE: result.spectrum}
    return [float(read(read_from[asked])) for asked, read in READ.items()]


def from_score(tool: tools.Tool) -> Tool:
    """A tool of `tools.py`, fed the first number."""

    def ask(P: Array, Q: Array) -> list[float]:
        return [tool.open(tools.plain_feed(P, Q), SEED).epsilon(0.001)]

    return Tool([AT_DELTA], ask, learns=False)


def sniper(perceptron: bool) -> Tool:
    """DP-Sniper: a third of the draws trains, one chooses the threshold, one certifies.

    Logistic regression is set as in its example, the perceptron by the defaults of its classes.
    """

    def ask(P: Array, Q: Array) -> list[float]:
        import torch
        from dpsniper.attack.dpsniper import DPSniper
        from dpsniper.classifiers import classifier_factory, torch_optimizer_factory
        from dpsniper.probability.estimators import EpsEstimator, PrEstimator
        from dpsniper.search.ddconfig import DDConfig
        from dpsniper.search.ddwitness import DDWitness
        from dpsniper.utils.paths import set_output_directory
        from dpsniper.utils.torch import torch_initialize

        class Drawn:
            """A mechanism that hands out draws already made, each of them once."""

            def __init__(self) -> None:
                self.left = [P, Q]

            def m(self, side: int, n_samples: int = 1) -> Array:
                given, self.left[side] = np.split(self.left[side], [n_samples])
                return given

        torch_initialize(torch_threads=1)
        torch.manual_seed(SEED)
        if perceptron:
            factory = classifier_factory.MultiLayerPerceptronFactory(
                in_dimensions=P.shape[1],
                optimizer_factory=torch_optimizer_factory.AdamOptimizerFactory(),
            )
        else:
            factory = classifier_factory.LogisticRegressionFactory(
                in_dimensions=P.shape[1],
                optimizer_factory=torch_optimizer_factory.SGDOptimizerFactory(),
            )
        third = len(P) // 3000 * 1000  # it wants thousands
        config = DDConfig(
            n_train=third, n=third, n_check=third, n_processes=1, confidence=1 - tools.SIGNIFICANCE
        )
        mechanism = Drawn()
        with tempfile.TemporaryDirectory() as folder:
            set_output_directory(folder)  # of its log of the training
            witness = DDWitness(0, 1, DPSniper(mechanism, factory, config).best_attack(0, 1))
            estimator = EpsEstimator(PrEstimator(mechanism, third, config))
            witness.compute_eps_using_estimator(estimator)
        return [float(witness.lower_bound)]

    return Tool([PURE], ask)


def auditorium(P: Array, Q: Array) -> list[float]:
    """DP-Auditorium's hockey-stick tester, with the settings of its example."""
    import tensorflow
    from dp_auditorium.configs import privacy_property, property_tester_config
    from dp_auditorium.testers import hockey_stick_tester

    tensorflow.config.threading.set_intra_op_parallelism_threads(1)
    tensorflow.config.threading.set_inter_op_parallelism_threads(1)
    tensorflow.keras.utils.set_random_seed(SEED)
    config = property_tester_config.HockeyStickPropertyTesterConfig(
        training_config=hockey_stick_tester.make_default_hs_training_config(),
        approximate_dp=privacy_property.ApproximateDp(epsilon=0.5, delta=0.0),
    )
    tester = hockey_stick_tester.HockeyStickPropertyTester(
        config, hockey_stick_tester.make_default_hs_base_model()
    )
    with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere):  # its progress
        return [float(tester.estimate_lower_bound(P, Q, tools.SIGNIFICANCE))]


def eureka(P: Array, Q: Array) -> list[float]:
    """Paper 1's estimator by nearest neighbours, `dpaudit.eureka`."""
    return [float(dp.eureka(P, Q, 0.0, rng=SEED).delta)]


TOOLS: dict[str, Tool] = {
    "dpaudit, whole curve": Tool(list(READ), whole_curve),
    **{
        f"{tool.package}, {tool.name}"
        + f" (takes a {tool.assumes} for granted)" * bool(tool.assumes): from_score(tool)
        for tool in tools.TOOLS
        if tool.package != tools.OURS
    },
    "DP-Sniper, logistic regression": sniper(perceptron=False),
    "DP-Sniper, perceptron": sniper(perceptron=True),
    "DP-Auditorium, hockey stick": Tool([DELTA], auditorium),
    "Eureka's k-NN": Tool([ESTIMATE], eureka),
}


def asked_or_why_not(name: str) -> dict[str, Answered] | str:
    """`asked` in a fresh process, or why the tool gave no answer, in its own words."""
    try:
        found: dict[str, Answered] = in_fresh_process(asked, name)
    except Exception as error:  # whatever another package raises
        return f"{type(error).__name__}: {error}"
    return found


def asked(name: str) -> dict[str, Answered]:
    """What a tool answers, by `DRAWS`; one that needs a score is not asked of many numbers."""
    tool = TOOLS[name]
    with threadpool_limits(1):
        return {
            where: answered(tool, task.drawn(size, SEED))
            for where, (task, size) in DRAWS.items()
            if tool.learns or task is LAPLACE
        }


def answered(tool: Tool, sides: Sides) -> Answered:
    """The answers of a tool, and the CPU seconds of one call."""
    answers: list[Sequence[float]] = []
    spent = fastest(lambda: answers.append(tool.ask(sides.P, sides.Q)))
    return answers[-1], spent


def page(answers: Mapping[str, Mapping[str, Answered] | str]) -> str:
    """The table of all answers, and why a tool has none.

    answers : by name of `TOOLS`, then of `DRAWS`; or why the tool failed.
    """
    rows = []
    for asked, read in READ.items():
        truths = [float(read(task)) for task, _ in DRAWS.values()]
        rows.append([asked, "truth", *(cell for true in truths for cell in (number(true, 3), ""))])
        for name, tool in TOOLS.items():
            answer = answers[name]
            if asked in tool.questions:
                place = list(tool.questions).index(asked)
                cells = []
                for where, true in zip(DRAWS, truths, strict=True):
                    values, spent = NONE if isinstance(answer, str) else answer.get(where, NONE)
                    false = asked != ESTIMATE and values[place] > true + tools.SLACK
                    cells += [number(values[place], 3) + f" {MARK}" * false, number(spent, 2)]
                rows.append(["", name, *cells])
    head = [*heads("asked | tool"), *(cell for name in DRAWS for cell in (name, "CPU s"))]
    reasons = dict.fromkeys(answer for answer in answers.values() if isinstance(answer, str))
    failed = [
        f"{'; '.join(name for name, answer in answers.items() if answer == reason)}: {reason}."
        for reason in reasons
    ]
    return "\n\n".join([table(head, rows), *failed])
