"""Several scenarios as one suite: outcomes, comparison with an earlier run, JUnit and the index
page.
"""
