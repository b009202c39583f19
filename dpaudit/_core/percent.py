"""Shares in percent, for sentences and tables."""

from __future__ import annotations

from decimal import Context, Decimal

DIGITS = Context(prec=4)  # digits of the share, or of 1 − share if that is smaller


def percent(share: float) -> str:
    """A share in [0, 1] as text: "95 %", "99.9999 %"; "100 %" only if it is 1, and "0 %" if 0.

    Four digits are shown of the share or of 1 − share, whichever is smaller.

    >>> from dpaudit._core.percent import percent
    >>> percent(0.95), percent(1.0 - 1e-6), percent(1.0 - 1e-12), percent(2e-9)
    ('95 %', '99.9999 %', '99.9999999999 %', '0.0000002 %')
    """
    exact = Decimal(repr(float(share)))
    part = DIGITS.create_decimal(min(exact, 1 - exact))
    hundredths = 100 * (part if exact <= 1 - exact else 1 - part)
    return f"{hundredths.normalize():f} %"
