"""Figures of audits."""
