"""The zoo: the textbook and the broken mechanisms by name, at the parameters published for them."""

from __future__ import annotations

from dpaudit.mechanisms import broken, textbook
from dpaudit.mechanisms.example import ExampleMechanism


def _instances(module: object, names: list[str]) -> dict[str, ExampleMechanism]:
    return {name: getattr(module, name)() for name in names}


ZOO: dict[str, ExampleMechanism] = {
    **_instances(textbook, textbook.__all__),
    **_instances(broken, broken.__all__),
    "MissingPassed at rate 0.01": broken.MissingPassed(rate=0.01),
    "NonDPGaussian1 at 0.1": broken.NonDPGaussian1(epsilon=0.1),
    "NonDPGaussian2 at 0.1": broken.NonDPGaussian2(epsilon=0.1),
    "NonDPLaplace1 at 0.1": broken.NonDPLaplace1(epsilon=0.1),
    "NonDPLaplace2 at 0.1": broken.NonDPLaplace2(epsilon=0.1),
}
