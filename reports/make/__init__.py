"""The laboratory: prints every figure and writes every page that the README and reports/ quote.

`python -m reports.make` lists the names, `python -m reports.make NAME` makes one. A figure of speed
is a ratio to something else measured in the same run. `registry.toml` names the measurements,
`page` is the one page writer, `tasks` holds the pairs of laws T1 to T8 that several measurements
share.
"""
