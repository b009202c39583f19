"""What a user does in the first hour, typed into a shell from the documentation.

Each script of `scripts/` runs in an empty folder of its own, with `dpaudit`, `python` and `pytest`
of this environment on the PATH, and ends with status 0 if all was as its comments say.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

QUICK_START = Path(__file__).parents[2] / "docs" / "quick-start.md"
SCRIPTS = sorted((Path(__file__).parent / "scripts").glob("*.sh"))
DEFAULT = ("empty_marker",)  # the default run has this one
MISSING = not all(
    shutil.which(name, path=path)
    for name, path in (("bash", None), ("dpaudit", Path(sys.executable).parent))
)

pytestmark = pytest.mark.skipif(MISSING, reason="bash or the installed command is missing")


def environment(home):
    """The user's own: nothing of the run that tests this."""
    kept = {name: os.environ[name] for name in ("LANG", "TMPDIR") if name in os.environ}
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return {**kept, "PATH": path, "HOME": str(home), "PYTHONUTF8": "1", "MPLBACKEND": "agg"}


def hear_interrupts():
    """Ctrl-C reaches the script also where this run is in the background of a shell without job
    control, which has its commands ignore it, and with them all that they start.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def marked(script):
    mark = pytest.mark.quick if script.stem in DEFAULT else pytest.mark.slow
    return pytest.param(script, id=script.stem, marks=mark)


@pytest.mark.parametrize("script", [marked(one) for one in SCRIPTS])
def test_the_first_hour(script, tmp_path):
    work = tmp_path / "work"
    work.mkdir()
    done = subprocess.run(
        ["bash", "-euo", "pipefail", str(script)],
        cwd=work,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        preexec_fn=hear_interrupts,
    )
    assert done.returncode == 0, f"{done.stdout[-4000:]}\n{done.stderr[-4000:]}"


@pytest.mark.quick
def test_the_quick_start_is_typed_in_as_it_stands():
    page = QUICK_START.read_text(encoding="utf-8")
    script = (Path(__file__).parent / "scripts" / "quick_start.sh").read_text(encoding="utf-8")
    project = page[page.index("dpaudit init") :]  # what comes before needs an index of packages
    commands = "\n".join(re.findall(r"^```sh\n(.*?)^```", project, re.MULTILINE | re.DOTALL))
    assert [line for line in commands.splitlines() if line not in script] == []
    promised = re.findall(r'grep -qF "(.*?)"', script)
    assert len(promised) > 5
    assert [text for text in promised if text not in page] == []
