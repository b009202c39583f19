"""Scenario files with a fault each."""

DATA = '[data]\nname = "flight"\n'
ALS = '[mechanism]\nname = "ALS"\nrows = 30\n'
GOOD = DATA + ALS
MINE = DATA + '[mechanism]\ncall = "a:b"\n'
SCORES = '[one_run]\nscores = "scores.csv"\n'
TRAINED = '[training]\nfunction = "a:b"\n'
# a file, the place that its fault is said to have, and words of what was there or may be there
WRONG = {
    "a training's claim without delta": (
        f"{TRAINED}[claim]\nepsilon = 1.0\n",
        "[claim]",
        ["epsilon and delta"],
    ),
    "not TOML": ("[data\n", "", ["not TOML"]),
    "unknown key of a rule": (
        f'{GOOD}[neighbour]\nrule = "row"\nindex = 1\nrow = [1.0]\n',
        "[neighbour] row",
        ["unknown key", "replace"],
    ),
    "no data": (ALS, "[data]", ["missing"]),
    "no mechanism": (DATA, "[mechanism]", ["missing"]),
    "name and path": (f'{DATA}path = "x.csv"\n{ALS}', "[data]", ["either name or path"]),
    "outputs and predict": (
        f'{MINE}kind = "estimator"\noutputs = ["coef_"]\npredict = [[1.0]]\n',
        "[mechanism] predict",
        ["outputs"],
    ),
    "two kinds of claim": (f"{GOOD}[claim]\nepsilon = 1\nrho = 1\n", "[claim]", ["of one kind"]),
    "a distance without epsilon": (
        f'{GOOD}[claim]\nrho = 1\nper = "euclidean"\n',
        "[claim] per",
        ["epsilon"],
    ),
    "own pair with data": (f'{GOOD}[neighbour]\nrule = "own"\n', "neighbour", ["no [data]"]),
    "rule of no kind": (
        f'{GOOD}[neighbour]\nrule = "worse"\n',
        "[neighbour] rule",
        ["'worst'", "'template'", "'worse'"],
    ),
    "mechanism of no kind": (
        f'{DATA}[mechanism]\nname = "ALZ"\n',
        "[mechanism] name",
        ["'ALS'", "'ALZ'"],
    ),
    "kind of no kind": (f'{MINE}kind = "oracle"\n', "[mechanism] kind", ["'estimator'", "oracle"]),
    "a number for text": (f"{DATA}target = 3\n{ALS}", "[data] target", ["text", "3"]),
    "a number for a table": (f"claim = 3\n{GOOD}", "[claim]", ["must be a table", "3"]),
    "a number for a list": (f"{GOOD}[audit]\nepsilon = 1.0\n", "[audit] epsilon", ["list"]),
    "a call without a colon": (
        f'{DATA}[mechanism]\ncall = "module"\n',
        "[mechanism] call",
        ["package.module:callable", "'module'"],
    ),
    "a command without data": (
        f'{DATA}[mechanism]\ncommand = ["x"]\n',
        "[mechanism] command",
        ["{data}"],
    ),
    "an address without Dask": (
        f'{GOOD}[audit]\naddress = "tcp://x:1"\n',
        "[audit] address",
        ['backend = "dask"'],
    ),
    "stop without a claim": (
        f'{MINE}kind = "values"\n[audit]\nstop = "verdict"\n',
        "[audit] stop",
        ["claim"],
    ),
    "a study without its class": ('[study]\ncall = "x"\n', "[study] call", ["module:Name", "'x'"]),
    "parameters that want each other": (
        f'{DATA}[mechanism]\nname = "GaussianLS"\n',
        "[mechanism]",
        ["sigma must be given, or else all of epsilon"],
    ),
    "no kind of mechanism": (f"{DATA}[mechanism]\ntimeout = 3.0\n", "[mechanism]", ["command"]),
    "parameters that are no table": (
        f"{MINE}parameters = 3\n",
        "[mechanism] parameters",
        ["table"],
    ),
    "an index without its rule": (
        f"{MINE}[neighbour]\nindex = 3\n",
        "[neighbour] index",
        ['rule = "row" or "replace"'],
    ),
    "a search that nobody asked for": (
        f'{GOOD}[neighbour]\nrelations = ["add"]\n',
        "[neighbour] relations",
        ['rule = "search"'],
    ),
    "printed, not": (f"{GOOD}[claim]\nprinted = false\n", "[claim] printed", ["must be true"]),
    "negative in a list": (f"{GOOD}[audit]\nepsilon = [-1]\n", "[audit] epsilon", [">= 0 (nats)"]),
    "true in a list": (f"{GOOD}[audit]\nepsilon = [0, true]\n", "[audit] epsilon[1]", ["number"]),
}

# what is wrong about one key, whatever the other keys say, is in the JSON Schema too
BY_THE_KEY = (
    *(
        "rule of no kind",
        "mechanism of no kind",
        "kind of no kind",
        "a number for text",
        "a number for a table",
    ),
    *("a number for a list", "a call without a colon", "a command without data"),
    *("a study without its class", "parameters that are no table", "printed, not"),
    *("negative in a list", "true in a list"),
)
