"""What a privacy curve δ(ε) says: spectra, claims, Rényi divergences, the Gaussian shift, and what
is read off them.
"""
