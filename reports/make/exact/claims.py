"""What Rényi claims allow: by the printed conversion, dp-accounting, dpaudit and linear programs.

A program is over all laws on a grid of losses that keep the claimed bound at 80 orders, in both
directions. It finds what the claim allows, but for the grid and the orders that it leaves out.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import linprog

import dpaudit as dp
from dpaudit._core.types import Array
from dpaudit.curves.renyi import Linear, RenyiCurve, gaussian_mixing
from reports.make import page
from reports.make.extras import package

Divergence = Callable[[Array], Array]
SPAN, POINTS = 12.0, 1_500  # of the grid of losses: its half width in √(2ρ), and its size
ORDERS = 80


def report() -> None:
    """The table of all claims, printed and written to reports/claims.md."""
    head = ["claim", "ε", "printed conversion", "dp-accounting", "dpaudit", "linear program"]
    shown = page.table(head, [row for one in _claims() for row in _rows(*one)])
    print(shown)
    page.write(page.REPORTS / "claims.md", page.render("claims.md", shown=shown))


def _claims() -> list[tuple[dp.Claim, Divergence, float, float]]:
    """Claims with the bound of the divergence, its largest order, and ρ of about its size."""
    mixing = dp.Claim.gaussmix(40, 30.0)
    concentrated = [
        (dp.Claim.zcdp(rho), Linear(rho), 1.0 + 30.0 / np.sqrt(2.0 * rho), rho)
        for rho in (0.01, 0.5)
    ]
    truncated = [
        (dp.Claim.tcdp(rho, omega), Linear(rho), omega, rho)
        for rho, omega in ((0.00112, 1.2164), (0.3, 1.5))
    ]
    return [
        *concentrated,
        *truncated,
        (mixing, lambda order: gaussian_mixing(order, 40, 30.0), 29.0, 0.5 * 40 / 30.0**2),
    ]


def _rows(claim: dp.Claim, bound: Divergence, end: float, rho: float) -> list[list[str]]:
    width = np.sqrt(2.0 * rho)
    orders = 1.0 + (end - 1.0) * np.geomspace(1e-4, 1.0 - 1e-9, ORDERS)
    assert isinstance(claim.renyi, RenyiCurve)
    rows = []
    for epsilon in np.array([0.0, 0.5, 1.0, 2.0, 3.0]) * width:
        values = (
            float(claim.renyi.by_moments(epsilon)),
            _dp_accounting(orders, bound(orders), float(epsilon)),
            float(claim.delta_at(epsilon)),
            _by_program(orders, bound(orders), float(epsilon), SPAN * width + rho),
        )
        rows.append([claim.text, page.number(float(epsilon), 3), *map(page.number, values)])
    return rows


def _dp_accounting(orders: Array, values: Array, epsilon: float) -> float:
    accountant = package("dp_accounting.rdp.rdp_privacy_accountant", "test")
    return float(accountant.compute_delta(orders, values, epsilon)[0])


def _by_program(orders: Array, values: Array, epsilon: float, span: float) -> float:
    """The largest δ(ε) of a pair of laws with losses on the grid, as masses of the second law."""
    loss = np.append(np.linspace(-span, span, POINTS), epsilon)
    there = (orders - 1.0)[:, None] * (loss - values[:, None]) + loss
    back = (1.0 - orders)[:, None] * (loss + values[:, None])
    moments = np.concatenate([there, back])
    scale = np.maximum(moments.max(axis=0), np.maximum(loss, 0.0))
    found = linprog(
        -np.maximum(np.exp(loss - scale) - np.exp(epsilon - scale), 0.0),
        A_ub=np.exp(moments - scale),
        b_ub=np.ones(len(moments)),
        A_eq=np.exp([-scale, loss - scale]),
        b_eq=[1.0, 1.0],
    )
    return float(-found.fun) if found.status == 0 else float("nan")
