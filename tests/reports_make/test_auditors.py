"""The comparison with other auditing tools, as far as it goes without them."""

import numpy as np
import pytest
from scipy.special import expit

from dpaudit.errors import DpauditError
from reports.make.auditors import compare, questions, tools
from reports.make.auditors.tools import DELTA, EPSILON, Answer, Reader, Tool, truth
from reports.make.tasks import TASKS

SCORES = ("first number", "dpaudit's")


def drawn(task, seed, size):
    sides = task.draw(np.random.default_rng(seed), size)
    return sides.P, sides.Q


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_epsilon_of_the_truth_is_where_delta_is(task):
    epsilon = truth(task)[len(EPSILON) :]
    finite = np.isfinite(epsilon)
    np.testing.assert_allclose(task.delta_at(epsilon[finite]), DELTA[finite], rtol=1e-6, atol=1e-15)


def exact_tool(task, surplus=0.0):
    """Answers the truth plus `surplus`."""
    return Tool(
        "none",
        "exact",
        lambda feed, seed: Reader(
            lambda delta: float(task.epsilon_at(delta)) + surplus,
            lambda epsilon: float(task.delta_at(epsilon)),
        ),
    )


def test_what_lies_above_the_truth_is_counted():
    task = TASKS[3]
    assert not compare.false_certificates(task, exact_tool(task), 3, 100).any()
    false = compare.false_certificates(task, exact_tool(task, 0.1), 3, 100)
    np.testing.assert_array_equal(false.mean(axis=0), [0, 0, 0, 0, 1, 1])


def test_our_score_certifies_on_draws_that_it_has_not_seen():
    P, Q = drawn(TASKS[0], 2, 2_000)
    own = tools.fitted_feed(P, Q, 1)
    plain = tools.plain_feed(P, Q)
    # one number: a fifth trains, a tenth chooses
    assert len(own.own[0]) == len(own.test[0]) == 1_400
    assert len(plain.own[0]) == len(plain.choose[0]) + len(plain.test[0]) == 2_000
    # high where P is likely
    assert np.mean(expit(own.test[0])) > np.mean(expit(own.test[1])) + 0.05
    assert np.mean(plain.test[0]) > np.mean(plain.test[1]) + 0.5


def test_a_missing_tool_is_named(monkeypatch):
    monkeypatch.setitem(tools.PACKAGES, "absent", "no_such_module_of_an_auditor")
    with pytest.raises(
        DpauditError, match=r"needs no_such_module_of_an_auditor, of the extra `auditors`"
    ):
        tools.package("absent")


def test_one_audit_answers_every_question_from_below_and_what_is_not_asked_is_left_out(monkeypatch):
    """The bounds hold together at level .95; these draws are fixed. Estimates are within 0.05."""
    few = {name: (task, 2_000) for name, (task, _) in questions.DRAWS.items()}
    monkeypatch.setattr(questions, "DRAWS", few)
    for name in ("dpaudit, whole curve", "Eureka's k-NN"):
        tool, found = questions.TOOLS[name], questions.asked(name)
        assert list(found) == list(few)
        (values, spent), task = found["Laplace, 10,000"], questions.LAPLACE
        assert 0.0 < spent < 5.0
        for question, value in zip(tool.questions, values, strict=True):
            true = float(questions.READ[question](task))
            if question == questions.ESTIMATE:
                assert value == pytest.approx(true, abs=0.05)
            else:
                assert 0.0 < value < true
    monkeypatch.setitem(questions.TOOLS, "a", questions.Tool(["δ(0.5)"], lambda P, Q: [0.1], False))
    assert [where for where in questions.asked("a") if "Laplace" not in where] == []


def test_the_page_marks_what_is_above_the_truth_and_says_why_a_tool_has_no_answer():
    answers = {
        name: {"Laplace, 10,000": ([0.999] * len(tool.questions), 0.5)}
        for name, tool in questions.TOOLS.items()
    }
    answers["DP-Sniper, perceptron"] = answers["DP-Auditorium, hockey stick"] = "No: module"
    shown = questions.page(answers)
    assert "| ε at δ = 0 | truth | 1 |  | 1 |  | ∞ |  |" in shown
    assert "| privacy-estimates, Jeffreys | 0.999 † | 0.5 | – | – | – | – |" in shown
    assert "| DP-Sniper, logistic regression | 0.999 | 0.5 |" in shown
    assert "| Eureka's k-NN | 0.999 | 0.5 |" in shown
    assert "| DP-Sniper, perceptron | – | – | – | – | – | – |" in shown
    assert shown.endswith("DP-Sniper, perceptron; DP-Auditorium, hockey stick: No: module.")


def test_page_leaves_unsound_tools_out_of_the_contest(monkeypatch):
    monkeypatch.setattr(compare, "PACKAGES", {})
    task, good, bad = TASKS[3], ("a", "good"), ("b", "bad")
    low = Answer(0.5 * np.array([0.3, 0.2, 0, 0, 0.9, 0.8]), 1.0, 2.0)
    high = Answer(0.6 * np.array([0.3, 0.2, 0, 0, 0.9, 0.8]), 1.0, 2.0)
    found = {
        (100, "T4"): {
            ("dpaudit", "x", "dpaudit's"): low,
            **{(*good, score): low for score in SCORES},
        }
    }
    found[100, "T4"].update({(*bad, score): high for score in SCORES})
    never, often = np.zeros((100, 6), dtype=bool), np.zeros((100, 6), dtype=bool)
    often[:20, 1] = True
    rates = {good: {task.name: never}, bad: {task.name: often}}
    assert compare.unsound(rates) >= {bad}
    assert good not in compare.unsound(rates)
    text = compare.render(found, rates, 1, 60.0)
    assert "best tool, first number score | 0.1500 | 0.1000 | 0 | 0 | 0.4500 | 0.4000" in text
    assert "| b, bad | 20.0% (20.0%) | 100 |" in text
