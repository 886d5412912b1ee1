"""Which names betray an nn.Module whose type nobody states."""

from __future__ import annotations

import ast
import re

# Methods that modules have, a MindSpore Cell does not under that name, and hardly anything else
# has.
MODULE_METHODS = frozenset(
    {
        "buffers",
        "children",
        "eval",
        "modules",
        "named_buffers",
        "named_children",
        "named_modules",
        "named_parameters",
        "parameters",
        "register_buffer",
        "register_forward_hook",
        "requires_grad_",
        "zero_grad",
    }
)
# Of these, nothing else in a program that uses torch has them.
_CERTAIN = frozenset(
    {
        "_modules",
        "modules",
        "named_buffers",
        "named_children",
        "named_modules",
        "named_parameters",
        "parameters",
        "register_buffer",
    }
)
_NAMED_SO = re.compile(
    r"(.*_)?(model|net|network|module|backbone|encoder|decoder|generator|discriminator|critic"
    r"|actor|teacher|student|classifier|ema)(_.*)?|net[DG]|[DG]|policy|\w+Net",
)


def says_module(node: ast.Attribute) -> bool:
    """`anything.named_parameters()`, and `model.eval()`: the method alone, or with the name."""
    if node.attr in _CERTAIN:
        return True
    owner = node.value
    name = owner.id if isinstance(owner, ast.Name) else getattr(owner, "attr", "")
    return node.attr in MODULE_METHODS | {"load_state_dict", "state_dict", "train"} and bool(
        _NAMED_SO.fullmatch(name)
    )
