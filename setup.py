"""What pyproject.toml cannot say: the folder scenarios/ is installed inside the package."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).parent


class WithScenarios(build_py):
    """Puts the scenarios where `dpaudit.run.shipped` finds them in an installed package."""

    def run(self) -> None:
        """Copy them beside the modules; an editable install reads them where they are."""
        super().run()
        if not self.editable_mode:
            shutil.copytree(
                HERE / "scenarios",
                Path(self.build_lib) / "dpaudit" / "scenarios",
                ignore=shutil.ignore_patterns("__pycache__", ".*"),
                dirs_exist_ok=True,
            )


setup(cmdclass={"build_py": WithScenarios})
