"""Make the environments that audit released packages, by name.

environments/NAME.txt lists what pip installs into .environments/NAME, at the top of the checkout.
Its comments may say "python: 3.10" (the default is the Python that runs this) and "dpaudit: no",
where dpaudit itself cannot be installed beside the packages and calls them as a program.

    python scenarios/libraries/environments.py            # all of them
    python scenarios/libraries/environments.py pure ldp   # two of them
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
CHECKOUT = HERE.parents[1]
LISTS, MADE = HERE / "environments", CHECKOUT / ".environments"


@dataclass(frozen=True)
class Environment:
    """A list of packages, with the Python that they need."""

    listed: Path

    @property
    def folder(self) -> Path:
        """Where it is made."""
        return MADE / self.listed.stem

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / "bin" / "python"

    @property
    def has_dpaudit(self) -> bool:
        """Whether dpaudit is installed in it."""
        return self._said("dpaudit") != "no"

    @property
    def up_to_date(self) -> bool:
        """Whether it was made from the list as it is now."""
        stamp = self.folder / self.listed.name
        return stamp.is_file() and stamp.read_text() == self.listed.read_text()

    def make(self) -> None:
        """Install everything anew. Raises subprocess.CalledProcessError where pip fails."""
        shutil.rmtree(self.folder, ignore_errors=True)
        version = self._said("python")
        interpreter = f"python{version}" if version else sys.executable
        subprocess.run([interpreter, "-m", "venv", str(self.folder)], check=True)
        own = ["-e", str(CHECKOUT)] if self.has_dpaudit else []
        pip = [str(self.python), "-m", "pip", "install", "--quiet", "-r", str(self.listed), *own]
        subprocess.run(pip, check=True)
        shutil.copy(self.listed, self.folder)

    def _said(self, key: str) -> str:
        said = re.search(rf"^# {key}: *(\S+)", self.listed.read_text(), flags=re.MULTILINE)
        return said[1] if said else ""


def environments(names: list[str]) -> list[Environment]:
    """The environments of these names, or all. Raises SystemExit for a name without a list."""
    known = {path.stem: Environment(path) for path in sorted(LISTS.glob("*.txt"))}
    if unknown := [name for name in names if name not in known]:
        raise SystemExit(f"no environment {', '.join(unknown)}; there are {', '.join(known)}")
    return [known[name] for name in names or known]


def main() -> None:
    """Make what is missing or made from an older list."""
    for one in environments(sys.argv[1:]):
        if one.up_to_date:
            print(f"{one.listed.stem}: up to date")
            continue
        print(f"{one.listed.stem}: installing ...", flush=True)
        one.make()


if __name__ == "__main__":
    main()
