"""The worst of all replacements where no order of the pairs is known: bounds first, then exactly.

`student.py` (ALS, RPLS) and `wishart.py` (additive Wishart noise) hold a bound of δ(ε) that is
proved and cheap. `student.py` and `wishart_angle.py` hold the exact δ(ε) of many pairs at once.
`student_search.py` and `wishart_search.py` compute exactly what the bounds leave.
"""
