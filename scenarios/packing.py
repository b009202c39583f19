"""What a build packs beside the modules; pyproject.toml names this build step.

The wheel carries the scenarios that run by name from any folder. The source distribution carries
the project as it is worked on, tests included, but no drawn pages.
"""

import re
from collections.abc import Iterable
from pathlib import Path

from setuptools.command.build_py import build_py

FOLDER = Path("scenarios")  # builds run in the top folder
SCENARIO = (".toml", ".py", ".csv")
# Released packages and their old versions need environments of their own; the papers' figures take
# long, some want data that are not shipped. All of these run from a checkout.
REPOSITORY = [Path(FOLDER, one) for one in ("libraries", "museum", "papers/studies", "packing.py")]
STUDY = "[study]"

SOURCE = ("tests", "docs", "reports", "scenarios", ".conda", ".github")
TEXT = (*SCENARIO, *(".md", ".json", ".xz", ".sh", ".txt", ".rst", ".css", ".js", ".yml", ".yaml"))
DOCS = Path("docs")  # whole: pictures and templates are part of it
CACHES = ("__pycache__", "dpaudit-out")
EMBARGO = re.compile(r"(.+[-_])?embargo")  # a folder, or the end of a name: SECURITY.md
MADE = (Path("docs/_build"), Path("docs/gallery"), Path("docs/api/generated"))
TOP = (
    *("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "CITATION.cff"),
    *(
        ".ci/run",
        "Dockerfile",
        ".dockerignore",
        ".gitignore",
        "action.yml",
        ".pre-commit-hooks.yaml",
    ),
)


class WithScenarios(build_py):
    """Puts the scenarios where `dpaudit.cli.shipped` finds them in an installed package."""

    def run(self) -> None:
        """Copy them beside the modules; an editable install reads them where they are."""
        super().run()
        for path in [] if self.editable_mode else scenarios():
            target = Path(self.build_lib, "dpaudit", path)
            self.mkpath(str(target.parent))
            self.copy_file(str(path), str(target))

    def get_source_files(self) -> list[str]:
        """What a source distribution holds."""
        return [*super().get_source_files(), *map(str, sources())]


def scenarios() -> list[Path]:
    """The scenarios of the wheel, with their modules and data."""
    files = [path for path in below(FOLDER) if path.suffix in SCENARIO]
    own = [path for path in files if not any(map(path.is_relative_to, REPOSITORY))]
    return [path for path in own if STUDY not in path.read_text(encoding="utf-8").splitlines()]


def sources() -> list[Path]:
    """The files of the project outside of the package that are written, not drawn or made."""
    files = [path for name in SOURCE for path in below(Path(name))]
    kept = [path for path in files if path.suffix in TEXT or path.is_relative_to(DOCS)]
    public = [path for path in kept if not any(map(EMBARGO.fullmatch, (*path.parts, path.stem)))]
    return [*public, *(Path(name) for name in TOP if Path(name).is_file())]


def below(folder: Path) -> Iterable[Path]:
    """The files below a folder, in order, without hidden ones in it and without what is made."""
    for path in sorted(folder.rglob("*")):
        inner = path.relative_to(folder).parts
        hidden = any(part in CACHES or part.startswith(".") for part in inner)
        if path.is_file() and not hidden and not any(map(path.is_relative_to, MADE)):
            yield path
