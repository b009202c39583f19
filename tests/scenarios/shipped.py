"""The classes of the studies, by the figure whose scenario file names them."""

from pathlib import Path

from dpaudit.run import StudyScenario, load_scenario

FOLDER = Path(__file__).parents[2] / "scenarios" / "papers"


def _name(path: Path) -> str:
    paper, what = path.stem.split("-")[1], path.stem.split("-", 2)[2]
    return f"{what}-paper-{paper}"


STUDIES = {
    _name(path): type(StudyScenario.load(path).study)
    for path in FOLDER.glob("*.toml")
    if isinstance(load_scenario(path), StudyScenario)
}
