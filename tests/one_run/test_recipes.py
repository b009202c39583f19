"""The recipes of docs/step-by-step.md, where their libraries are installed (the extra `steps`)."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "step-by-step.md"
RECIPES = re.findall(
    r"^## ([\w-]+)\n(?:(?!^## ).)*?^```py\n(.*?)^```",
    PAGE.read_text(encoding="utf-8"),
    re.MULTILINE | re.DOTALL,
)
BROKEN = {
    "Opacus": (
        (r"^audit = ", "optimizer.noise_multiplier = 0.5\naudit = ", "noise"),
        (r"max_grad_norm=CLIP,", "max_grad_norm=CLIP, poisson_sampling=False,", "sampling"),
    ),
    "jax-privacy": ((r"stddev=SIGMA \* CLIP", "stddev=0.5 * SIGMA * CLIP", "noise"),),
}


@pytest.mark.quick
def test_the_page_has_a_recipe_for_each_library():
    assert [name for name, _ in RECIPES] == list(BROKEN)
    for name, recipe in RECIPES:
        for found, put, _ in BROKEN[name]:
            broken = re.sub(found, put, recipe, flags=re.MULTILINE)
            assert broken != recipe
            compile(broken, name, "exec")


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(("name", "recipe"), RECIPES, ids=[name for name, _ in RECIPES])
def test_a_recipe_runs_and_sees_bugs(name, recipe):
    """Opacus 12 s, jax-privacy 130 s."""
    pytest.importorskip(name.lower().replace("-", "_"))
    for found, put, bettor in ((None, None, None), *BROKEN[name]):
        code = recipe if found is None else re.sub(found, put, recipe, flags=re.MULTILINE)
        names = {}
        exec(compile(code, name, "exec"), names)
        audit = names["audit"]
        assert audit.verdict == ("not violated" if found is None else "violated")
        if bettor is not None:
            assert max(audit.e_values, key=audit.e_values.get) == bettor
