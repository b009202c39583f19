"""What the pages show: links lead somewhere, and blocks of shell, TOML, YAML and Python hold.

Scenarios of scenarios/README.md are run in tests/scenarios/test_readme.py.
"""

import re
import shlex
import tomllib
from contextlib import suppress
from pathlib import Path

import click
import pytest
from jsonschema import Draft202012Validator

from dpaudit.cli import defaults, dpaudit
from dpaudit.run import audits_in
from dpaudit.run.schema import NAME, Kind, tables

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
DOCS = sorted(page for page in (ROOT / "docs").rglob("*.md") if "_build" not in page.parts)
PAGES = [*sorted(ROOT.glob("*.md")), *DOCS, ROOT / "scenarios" / "README.md"]
ALL_PAGES = [*PAGES, *sorted((ROOT / "reports").glob("*.md"))]
# A source distribution leaves out drawn reports (scenarios/packing.py).
DRAWN = (".html", ".png") if (ROOT / "PKG-INFO").exists() else ()
FENCE = r"^```(?:{})\n(.*?)^```"
WITHOUT_PYTHON = {
    *("architecture", "suites", "command-line", "measured"),
    *("quick-start", "faq", "glossary", "cite", "scenario-keys"),
}
PYTHON_PAGES = [README, ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]
python_pages = pytest.mark.parametrize(
    "page", sorted(PYTHON_PAGES), ids=lambda page: page.relative_to(ROOT).as_posix()
)


def blocks(language, page):
    """The texts of the page's blocks in the language, a regular expression."""
    fence = re.compile(FENCE.format(language), re.MULTILINE | re.DOTALL)
    return fence.findall(page.read_text(encoding="utf-8"))


def numbered(language):
    """Parameters for pytest: each block of the pages, by its page and its number there."""
    return [
        pytest.param(text, id=f"{page.parent.name}-{page.stem}-{number}")
        for page in [*ROOT.glob("*.md"), *DOCS]
        for number, text in enumerate(blocks(language, page), 1)
    ]


# --- links ----------------------------------------------------------------------------------------


def without_code(page):
    text = page.read_text(encoding="utf-8")
    return re.sub(FENCE.format("[^\n]*"), "", text, flags=re.MULTILINE | re.DOTALL)


def links(page):
    """Targets of the page's links and pictures, without those to other hosts."""
    targets = re.findall(r"\]\(([^)\s]+)\)", without_code(page))
    return [target for target in targets if not re.match(r"[a-z]+:", target)]


def anchors(page):
    """The names that GitHub gives headings: small letters, words joined by hyphens."""
    headings = re.findall(r"^#+ (.*)$", without_code(page), flags=re.MULTILINE)
    words = [re.sub(r"[^\w\- ]", "", heading.strip().lower()) for heading in headings]
    return {one.replace(" ", "-") for one in words}


def broken(page):
    for target in links(page):
        path, _, heading = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if file.is_relative_to(ROOT / "reports") and file.suffix in DRAWN:
            continue
        if not file.exists() or (heading and heading not in anchors(file)):
            yield target


@pytest.mark.quick
def test_every_relative_link_resolves():
    pages = [*PAGES, ROOT / "reports" / "README.md"]
    assert [(page.name, link) for page in pages for link in broken(page)] == []


@pytest.mark.quick
def test_the_index_of_docs_names_every_page():
    index = ROOT / "docs" / "README.md"
    lists = {path for path in index.parent.glob("*.md") if "{toctree}" in path.read_text("utf-8")}
    pages = {path.name for path in {*index.parent.glob("*.md")} - lists}
    assert pages - {index.name} <= set(links(index))


@pytest.mark.quick
def test_a_link_that_leads_nowhere_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "# A heading\n[one](#a-heading) [two](page.md#b) [three](x.md) [far](https://a.b)"
    )
    assert list(broken(page)) == ["page.md#b", "x.md"]


# --- commands -------------------------------------------------------------------------------------


def commands(page):
    """Arguments of each call of `dpaudit`, up to what the shell does with its output."""
    for block in blocks("sh|bash|console", page):
        for line in block.replace("\\\n", " ").splitlines():
            for call in re.findall(r"(?:^|&& |\$ |bin/)dpaudit ((?:[^|;&>#]|(?<=\S)#)+)", line):
                yield shlex.split(call)


def parse(arguments):
    """Read the arguments as the command would, and run nothing."""
    context = dpaudit.make_context("dpaudit", arguments, resilient_parsing=False)
    name, command, rest = dpaudit.resolve_command(context, arguments)
    command.make_context(name, rest, parent=context)


CALLS = {" ".join(call): call for page in ALL_PAGES for call in commands(page)}


@pytest.mark.quick
def test_a_command_of_the_pages_exists_with_its_options():
    assert len(CALLS) > 25
    for call in CALLS.values():
        with suppress(click.exceptions.Exit):  # --help, --version
            parse(call)


@pytest.mark.quick
@pytest.mark.parametrize("call", [["runn", "x"], ["run", "x.toml", "--drawss", "3"], ["plan"]])
def test_a_wrong_command_is_found(call):
    with pytest.raises(click.ClickException):
        parse(call)


# --- TOML and YAML --------------------------------------------------------------------------------


KINDS = {"": (Kind("", {"name": NAME}),), **tables()}


def taken(place, content):
    """Whether some kind of the table has all keys, with such values. A block may be a part."""
    return any(
        content.keys() <= kind.keys.keys()
        and all(Draft202012Validator(kind.keys[key]).is_valid(content[key]) for key in content)
        for kind in KINDS[place]
    )


def wrong(content):
    """The tables of a part of a scenario that no reader takes."""
    top = {key: value for key, value in content.items() if not isinstance(value, dict)}
    places = {"": top, **{key: content[key] for key in content.keys() - top}}
    return [place for place, table in places.items() if not taken(place, table)]


@pytest.mark.quick
@pytest.mark.parametrize("text", numbered("toml"))
def test_a_scenario_or_the_defaults_of_a_project(text, tmp_path):
    path = tmp_path / "pyproject.toml"
    path.write_text(text, encoding="utf-8")
    if "tool" in tomllib.loads(text):
        assert defaults.read(tmp_path).path == path
    else:
        assert not any(wrong(file.content) for file in audits_in(path))


@pytest.mark.quick
def test_a_misspelt_key_and_a_wrong_value_are_found():
    assert wrong({"audit": {"drawss": 100}}) == ["audit"]
    assert wrong({"claim": {"epsilon": "one"}}) == ["claim"]


@pytest.mark.quick
@pytest.mark.parametrize("text", numbered("yaml"))
def test_inputs_of_the_action_and_names_of_the_hooks(text):
    content = yaml.safe_load(text)
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    if isinstance(content, list):
        (ours,) = (step for step in content if step["uses"].startswith("dpaudit/dpaudit@"))
        assert set(ours["with"]) <= set(action["inputs"])
    else:
        used = {hook["id"] for repo in content["repos"] for hook in repo["hooks"]}
        assert used <= {hook["id"] for hook in hooks}


# --- Python ---------------------------------------------------------------------------------------


def run(page):
    """Run the page's blocks in order, as a reader types them; the names that they leave behind."""
    names = {"__name__": page.stem}
    for number, block in enumerate(blocks("python", page)):
        exec(compile(block, f"{page.name}, block {number + 1}", "exec"), names)
    return names


@pytest.mark.slow
@python_pages
def test_the_blocks_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run(page)


@pytest.mark.slow
def test_the_readme_prints_what_it_shows(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(README)["result"].verdict == "violated"
    assert capsys.readouterr().out in README.read_text(encoding="utf-8")
    written = sorted(path.name for path in Path("dpaudit-out/readme").iterdir())
    assert written == ["report.html", "result.json", "spectrum.png"]


@pytest.mark.quick
def test_pages_have_an_example_in_python():
    pages = {page for page in PYTHON_PAGES if "{toctree}" not in page.read_text(encoding="utf-8")}
    assert {page.stem for page in pages if not blocks("python", page)} <= WITHOUT_PYTHON


@pytest.mark.quick
def test_the_readme_is_short():
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 150
