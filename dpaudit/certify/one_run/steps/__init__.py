"""Bets on the steps of one run of DP-SGD: an e-process, arrays in and wealth out.

What is bet on. The sum of step t, in units of the clip norm and projected on the unit direction of
a canary's gradient, less a part that is known beforehand, is

    r = c + a·s + σz,    s ~ Bernoulli(q),   z ~ N(0, 1),   |a| ≤ 1,

with s the coin of the canary, q the sampling rate and σ the noise multiplier. An honest step has,
given all that was seen of earlier steps: (i) s and the coins of other canaries are independent with
probability q; (ii) c, the rest of the batch, is independent of s, and may otherwise have any law;
(iii) z is independent of c and of all coins. Neither c nor a need be known. So the null hypothesis
holds for any data, any model and any training loop that makes honest steps; for fixed c it says
that the laws of r with and without the canary are those of a 1/σ-GDP mechanism.

    `privacy`   bets on s after r is seen: (i) and that the two laws are 1/σ-GDP apart
    `noise`     bets that r is nearer to a predicted value than the noise allows: (iii)
    `sampling`  bets on s given earlier coins: (i)

Each payoff has a mean of at most 1 under the null given the past, so each wealth is a
supermartingale in the one filtration of all coins and projections, and so is a mean of wealths. By
Ville's inequality it ever reaches 1/α with probability at most α.

Several canaries. Let their directions be orthogonal. Then canary j adds nothing to the projections
of the others, and the noises of the projections are independent, since a Gaussian vector has
independent coordinates on orthogonal axes. So (i) to (iii) hold for canary j also given r and s of
the canaries before it in the same step, and their payoffs multiply. Where directions are not
orthogonal, r of another canary contains s, and noises depend on each other. Each canary's payoff
still has a mean of at most 1 given the past alone, and so has the MEAN of the payoffs of a step.
The coins stay independent either way, so payoffs of `sampling` always multiply.

The rounding of projections to multiples of h adds about h/σ, the probability that the noise is less
than that, per step and canary to the probability of a false alarm, because of the narrowest bets.
"""
