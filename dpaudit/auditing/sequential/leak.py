"""Whether a sequential audit refutes its claim where every output gives its database away."""

from __future__ import annotations

import numpy as np

from dpaudit import power
from dpaudit.auditing.clock import Clock
from dpaudit.auditing.sequential.bettor import Bettor, menu_of
from dpaudit.auditing.sequential.record import batch_sizes
from dpaudit.auditing.sequential.source import Batch
from dpaudit.auditing.settings import MOST_SAMPLES, Settings
from dpaudit.curves.spectrum import Spectrum
from dpaudit.verdict.headline import Reference
from dpaudit.verdict.judgement import too_few_draws

# Such an audit rejects after 0.3 to 2 times the draws that `power` gives for outputs that hardly
# overlap (measured): what lies beyond is not tried, nor are more draws than TRIED.
AMPLE, TRIED = 4.0, 1 << 17
FINER = 1.02  # a batch that ends earlier may choose another bet


def too_few(settings: Settings, reference: Reference, theory: Spectrum | None) -> str:
    """A sentence where no outputs could have rejected `reference`; "" where some could."""
    about = _about(settings, reference)
    if settings.samples >= AMPLE * about:
        return ""
    if about > TRIED:
        needed = about if about < MOST_SAMPLES else None
        return "" if settings.samples >= about else too_few_draws(reference, _whole(needed))
    if rejected_at(settings, theory, settings.samples) is not None:
        return ""
    return too_few_draws(reference, fewest(settings, theory, int(AMPLE * about)))


def fewest(settings: Settings, theory: Spectrum | None, most: int) -> int | None:
    """Draws a side that reject, training included, where every output gives its database away."""
    needed = rejected_at(settings, theory, most)
    while needed is not None and needed < most:
        found = rejected_at(settings, theory, needed)
        if found is not None:
            return needed
        needed = int(np.ceil(FINER * needed))
    return needed


def rejected_at(settings: Settings, theory: Spectrum | None, samples: int) -> int | None:
    """The draws a side after which `samples` draws of two values reject; None if they do not."""
    bettor = Bettor(settings, menu_of(settings.claim, theory), Clock())
    for number, size in enumerate(batch_sizes(samples)):
        fresh = Batch((np.ones((size, 1)), np.zeros((size, 1))), None)
        if number > 0:
            bettor.bet(number, fresh)
        bettor.learn(fresh)
        bettor.drawn += size
        if bettor.rejected_at is not None:
            break
    return bettor.rejected_at


def _about(settings: Settings, reference: Reference) -> float:
    """Draws a side by `power` for outputs that hardly overlap, at the ε that needs fewest."""
    allowed = reference.delta
    best = int(np.argmin(power.separating_draws(settings.epsilon, allowed, settings.alpha)))
    epsilon, delta = float(settings.epsilon[best]), float(allowed[best])
    return power.separating_bets(epsilon, delta, settings.alpha)


def _whole(draws: float | None) -> int | None:
    return None if draws is None else int(np.ceil(draws))
