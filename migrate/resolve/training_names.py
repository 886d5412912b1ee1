"""Optimizers and schedules told by their members' names, where no type is known."""

from __future__ import annotations

import ast

_OPTIMIZER = "torch.optim.Optimizer"
_SCHEDULER = "torch.optim.lr_scheduler.LRScheduler"
# Nothing else has these.
_CERTAIN = {
    "param_groups": _OPTIMIZER,
    "add_param_group": _OPTIMIZER,
    "get_last_lr": _SCHEDULER,
}
# Others have these too: the receiver's name must say the rest.
_SHARED = frozenset({"state_dict", "load_state_dict", "zero_grad"})


def says_training(node: ast.Attribute, form: str) -> str:
    """The class whose member this must be; empty when that cannot be told.

    `anything.param_groups`; `optimizer.state_dict()`, `self.lr_scheduler.load_state_dict(s)`.
    """
    if node.attr in _CERTAIN:
        return _CERTAIN[node.attr]
    if form != "call" or node.attr not in _SHARED:
        return ""
    owner = node.value
    name = owner.id if isinstance(owner, ast.Name) else getattr(owner, "attr", "")
    words = name.lower()
    if "sched" in words:
        return _SCHEDULER if node.attr != "zero_grad" else ""
    return _OPTIMIZER if "optim" in words or words.strip("_dg0123456789") == "opt" else ""
