"""Search for a setting at which a printed bound fails: test your theorem.

`search` has the two functions. `ranges` and `domain` say which settings there are, `inequality`
what is compared at one of them, and `record` keeps what was tried. `start` and `improve` choose
settings, `simplify` makes a failure plain, and `result` puts it into words.
"""
