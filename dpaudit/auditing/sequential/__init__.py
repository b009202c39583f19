"""An audit that may stop early: it draws growing batches, and bets on each with a score and a bet
that were chosen from the earlier batches.

A batch is scored by what was trained on all draws before it. So the product of the payoffs is an
e-process, which may be looked at after every draw. The first time that it reaches 1/(1 − level) the
claim is rejected; if the claim is true, that happens with probability at most 1 − level.
"""
