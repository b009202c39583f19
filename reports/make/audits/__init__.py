"""Figures of audits: what they certify, how many draws they take, and how long."""
