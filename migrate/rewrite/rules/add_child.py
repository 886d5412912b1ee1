"""Adding a child: a class of one's own takes an attribute, a SequentialCell must also run it."""

from __future__ import annotations

from migrate.resolve.values import Instance, ProjectClass, SuperOf, Value, options_of
from migrate.rewrite.calls.call import Call, Refusal
from migrate.rewrite.rules import becomes, rule


@rule(
    becomes("self.add_module('head', head)", "setattr(self, 'head', head)"),
    becomes("model.add_module('head', head)", "helpers.add_module(model, 'head', head)"),
    becomes(
        "nn.Sequential().add_module('head', head)",
        "helpers.add_module(nn.SequentialCell(), 'head', head)",
    ),
)
def add_child(call: Call) -> None:
    if not all(map(_is_own_class, options_of(call.receiver_type))):
        raise Refusal("the module may be a SequentialCell, which has to be told to run the child")


def _is_own_class(value: Value) -> bool:
    """A class of the program that runs its children by itself."""
    if isinstance(value, SuperOf):
        cls: object = value.cls
    else:
        cls = value.cls if isinstance(value, Instance) else None
    return isinstance(cls, ProjectClass) and "torch.nn.Sequential" not in cls.library_bases()
