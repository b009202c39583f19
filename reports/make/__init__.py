"""Benchmarks: each prints what was reached, as a ratio against something else measured in the same
run.
"""
