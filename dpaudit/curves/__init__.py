"""What a privacy curve δ(ε) says.

It holds spectra, claims, Rényi divergences as δ(ε), the Gaussian shift, and what is read off a
curve: ε at a δ, trade-off function, equivalent μ. It knows no mechanism, no data and no draws.
"""

from dpaudit._core.lazy import on_first_use

# No module of this folder has the name of a function here: importing it would hide the function.
__getattr__, __dir__, __all__ = on_first_use(
    __name__,
    {
        "dpaudit.curves.accountant": "ComposedCurves SampledGaussian",
        "dpaudit.curves.claims": (
            "Claim Family MetricClaim about_others as_claim doubtful exceeds refuse_unbreakable"
        ),
        "dpaudit.curves.gaussian_shift": "shift_delta",
        "dpaudit.curves.group": "GroupCurve chained repeated",
        "dpaudit.curves.readings": "epsilon_at gdp_mu grid_tradeoff",
        "dpaudit.curves.renyi": "sampled_gaussian",
        "dpaudit.curves.spectrum": "Spectrum",
    },
)
