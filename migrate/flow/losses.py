"""Is a module a loss: called with outputs and targets, with nothing of its own to train?

What its class holds says so; a name only where nothing is known of the class.
"""

from __future__ import annotations

import ast

from migrate.flow.answer import Answer
from migrate.resolve.values import PARAMETER, Instance, ProjectClass, Value, options_of

_WORDS = ("loss", "criterion")
# A loss by name, with a linear layer for each cluster of classes.
_TRAINED = "torch.nn.AdaptiveLogSoftmaxWithLoss"


def is_loss(node: ast.expr, value: Value) -> bool:
    """`criterion` of `criterion(out, y)`; a loss with a temperature to learn is a network."""
    kinds = [option.cls for option in options_of(value) if isinstance(option, Instance)]
    if any(holds_parameters(kind) is Answer.YES for kind in kinds):
        return False
    named = [kind if isinstance(kind, str) else kind.node.name for kind in kinds]
    last = ast.unparse(node).rpartition(".")[2].lower()
    return any("Loss" in name for name in named) or any(word in last for word in _WORDS)


def is_loss_of_torch(kind: Value) -> bool:
    """One of torch's own losses, certainly without parameters."""
    return isinstance(kind, Instance) and holds_parameters(kind.cls) is Answer.NO


def holds_parameters(cls: str | ProjectClass, depth: int = 3) -> Answer:
    """No of torch's own losses, yes where a class of the program makes a Parameter or holds a
    layer that is yes; of other layers nothing is said.
    """
    if isinstance(cls, str):
        is_loss_class = cls.startswith("torch.nn.") and cls.endswith("Loss")
        return Answer.NO if is_loss_class and cls != _TRAINED else _of_library(cls)
    held = [option for value in cls.attributes.values() for option in options_of(value)]
    if PARAMETER in held:
        return Answer.YES
    kinds = [*cls.library_bases(), *(option.cls for option in held if isinstance(option, Instance))]
    if depth and any(holds_parameters(kind, depth - 1) is Answer.YES for kind in kinds):
        return Answer.YES
    return Answer.UNKNOWN


def _of_library(cls: str) -> Answer:
    return Answer.YES if cls == _TRAINED else Answer.UNKNOWN
