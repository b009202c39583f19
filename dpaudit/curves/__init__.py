"""What a privacy curve δ(ε) says.

It holds spectra, claims, Rényi divergences as δ(ε), the Gaussian shift, and what is read off a
curve: ε at a δ, trade-off function, equivalent μ. It knows no mechanism, no data and no draws.
"""
