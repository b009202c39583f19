"""Hooks that audit a private training run from inside: Opacus, jax-privacy, a loop of your own.

Each puts canaries into the run, watches every step by `dpaudit.StepAudit`, and takes the canaries
out again before the weights move. `audit` has what the hooks share, and says what they assume and
what they do not see. torch and jax are imported by the hook that needs them, on use.
"""

from typing import TYPE_CHECKING

from dpaudit._core.lazy import on_first_use

if TYPE_CHECKING:
    from dpaudit.training.audit import TrainingAudit as TrainingAudit
    from dpaudit.training.jax_privacy import JaxPrivacyAudit as JaxPrivacyAudit
    from dpaudit.training.loop import LoopAudit as LoopAudit
    from dpaudit.training.opacus import OpacusAudit as OpacusAudit

__getattr__, __dir__, __all__ = on_first_use(
    __name__,
    {
        "dpaudit.training.audit": "TrainingAudit",
        "dpaudit.training.jax_privacy": "JaxPrivacyAudit",
        "dpaudit.training.loop": "LoopAudit",
        "dpaudit.training.opacus": "OpacusAudit",
    },
)
