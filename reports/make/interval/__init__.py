"""The coverage of the two-sided interval, in simulated audits of T1 to T8."""
