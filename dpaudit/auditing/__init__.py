"""The audit: settings, draws, score, band, verdict and result, at a fixed number of draws or
sequentially.
"""
