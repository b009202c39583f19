"""Audits of one run: what canaries and steps show, beside exact and two-sample results."""
