"""The file of a mechanism, and the commit of the work tree that it is in."""

import functools
import hashlib
import shutil
import subprocess

import numpy as np
import pytest

import dpaudit as dp
from dpaudit._core.source import commit_of, source_of

pytestmark = pytest.mark.quick


PAIR = dp.neighbours.zero_row([[1.0], [1.0]], 0)


def release(data, size, *, rng):
    return rng.normal(size=(size, 1))


def alone(data, rng):
    return data


@pytest.mark.parametrize(
    "wrapped",
    [
        dp.adapters.one_draw(alone),
        dp.adapters.limited(release, 1.0),
        dp.adapters.synthesizer(alone, alone, PAIR),
        dp.adapters.estimator(lambda: None, ["coef_"]),
        dp.adapters.global_seeds(dp.adapters.records(alone)),
    ],
    ids=lambda wrapped: wrapped.name,
)
def test_what_an_adapter_wraps_is_its_source(wrapped):
    with open(__file__, "rb") as file:
        here = hashlib.file_digest(file, "sha256").hexdigest()
    assert source_of(wrapped)["sha256"] == here


def test_the_file_of_a_function_is_its_source():
    with open(__file__, "rb") as file:
        here = hashlib.file_digest(file, "sha256").hexdigest()

    class Release:
        def __call__(self, data, size, *, rng):
            return release(data, size, rng=rng)

    for mechanism in (release, functools.partial(release), Release()):
        assert source_of(mechanism)["sha256"] == here
    typed = {}
    exec("def release(data, size, *, rng): return data", typed)
    for mechanism in (typed["release"], dp.mechanisms.ALS(9), np.mean, 3, None):
        assert source_of(mechanism) is None or mechanism is np.mean
    result = dp.audit(release, PAIR, draws=100, claim=(1.0, 0.5), classifier="qda", rng=0)
    assert result.to_dict()["source"]["sha256"] == here


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_the_commit_is_the_one_that_git_names(tmp_path):
    def git(*arguments, where="repo"):
        own = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main")
        command = ["git", *own, "-C", str(tmp_path / where), *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    inner = tmp_path / "repo" / "inner"
    inner.mkdir(parents=True)
    assert commit_of(inner) is None
    git("init")
    assert commit_of(inner) is None  # nothing is committed yet
    git("commit", "--allow-empty", "-m", "first")
    head = git("rev-parse", "HEAD")
    assert commit_of(inner) == head
    git("worktree", "add", "-b", "topic/one", str(tmp_path / "other"))
    git("commit", "--allow-empty", "-m", "second", where="other")
    assert commit_of(tmp_path / "other") == git("rev-parse", "HEAD", where="other") != head
    git("pack-refs", "--all")
    assert commit_of(inner) == head
    git("checkout", "--detach")
    assert commit_of(inner) == head
    (tmp_path / "repo" / ".git" / "HEAD").write_text("ref: ../../secret\n")
    (tmp_path / "secret").write_text("not a commit")
    assert commit_of(inner) is None
