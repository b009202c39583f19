"""The scenarios are installed inside the package; pyproject.toml names this build step."""

from pathlib import Path

from setuptools.command.build_py import build_py

FOLDER = Path("scenarios")  # builds run in the top folder
OURS = "packing.py"


class WithScenarios(build_py):
    """Puts the scenarios where `dpaudit.run.shipped` finds them in an installed package."""

    def run(self) -> None:
        """Copy them beside the modules; an editable install reads them where they are."""
        super().run()
        for path in [] if self.editable_mode else scenarios():
            target = Path(self.build_lib, "dpaudit", path)
            self.mkpath(str(target.parent))
            self.copy_file(str(path), str(target))

    def get_source_files(self) -> list[str]:
        """What a source distribution holds."""
        return [*super().get_source_files(), *map(str, scenarios()), str(FOLDER / OURS)]


def scenarios() -> list[Path]:
    """All files of the folder but this one, caches and hidden ones."""
    return [
        path
        for path in sorted(FOLDER.rglob("*"))
        if path.is_file()
        and path.name != OURS
        and not any(part == "__pycache__" or part.startswith(".") for part in path.parts)
    ]
