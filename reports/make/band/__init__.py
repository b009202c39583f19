"""Figures of the certified band: how often it exceeds the truth, and what other bands certify."""
