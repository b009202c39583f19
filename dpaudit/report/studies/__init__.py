"""Studies: experiments of papers, and the pages made of what they find.

`study` has the base class that a scenario's [study] table names, `content` what a study returns,
`figures` and `write` the figures and the folder made of it.
"""
