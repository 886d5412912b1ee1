"""What a test of a layer's class says: `type(m) is nn.Conv2d`, `"BatchNorm" in name_of_class`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from migrate.resolve.types import as_instance
from migrate.resolve.values import UNKNOWN, ClassNameOf, ClassOf, Value, instance, join
from migrate.syntax.access import name_of

if TYPE_CHECKING:
    from migrate.resolve.statements import Statements

SEVERAL = (ast.Tuple, ast.List, ast.Set)
# The layers that hold parameters: what people look for by name, to initialise them.
LAYERS = (
    *("BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "SyncBatchNorm", "GroupNorm", "LayerNorm"),
    *("InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d", "RMSNorm", "PReLU"),
    *("Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"),
    *("Linear", "Bilinear", "Embedding", "EmbeddingBag", "MultiheadAttention"),
    *("RNN", "GRU", "LSTM", "GRUCell", "LSTMCell"),
)
_OF_LAYERS = frozenset({"weight", "bias", "running_mean", "running_var"})


def by_class(state: Statements, test: ast.expr, truth: bool) -> bool:
    """Refine the variable whose class is tested; False when the test is of another kind."""
    found = _tested(state, test)
    if found is None:
        return False
    variable, value, holds = found
    if holds == truth and value is not UNKNOWN and variable in state.frame.locals:
        state.frame.locals[variable] = value
    return True


def _tested(state: Statements, test: ast.expr) -> tuple[str, Value, bool] | None:
    """The variable, what it is if the test says so, and whether true or false says so."""
    if isinstance(test, ast.Call):  # name.startswith("Conv")
        return _method(state, test, "startswith", str.startswith)
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return None
    operator, left, right = test.ops[0], test.left, test.comparators[0]
    positive = isinstance(operator, (ast.Is, ast.Eq, ast.In))
    if isinstance(left, ast.Call):  # name.find("Conv") != -1
        found = _method(state, left, "find", str.__contains__)
        if found is not None:
            return *found[:2], not isinstance(operator, (ast.Eq, ast.Lt))
    if isinstance(left, ast.Constant) and isinstance(operator, (ast.In, ast.NotIn)):
        return _named(state, right, [left], str.__contains__, positive)
    if not isinstance(operator, (ast.Is, ast.IsNot, ast.Eq, ast.NotEq, ast.In, ast.NotIn)):
        return None
    parts = right.elts if isinstance(right, SEVERAL) else [right]
    found = _named(state, left, parts, str.__eq__, positive)
    if found is not None:
        return found
    kind = _value(state, left)
    if not isinstance(kind, ClassOf):
        return None
    made: Value = UNKNOWN
    for part in parts:
        made = join(made, as_instance(_value(state, part)))
    return kind.variable, made, positive


def _method(
    state: Statements, call: ast.Call, name: str, fits: object
) -> tuple[str, Value, bool] | None:
    function = call.func
    if not isinstance(function, ast.Attribute) or function.attr != name or len(call.args) != 1:
        return None
    return _named(state, function.value, call.args, fits, True)


def _named(
    state: Statements, subject: ast.expr, words: list[ast.expr], fits: object, holds: bool
) -> tuple[str, Value, bool] | None:
    """The layers whose names fit one of the words."""
    name = _value(state, subject)
    if not isinstance(name, ClassNameOf) or not _is_layer(state, name.variable):
        return None
    texts = [w.value for w in words if isinstance(w, ast.Constant) and isinstance(w.value, str)]
    made: Value = UNKNOWN
    for layer in LAYERS:
        if any(fits(layer, text) for text in texts):  # type: ignore[operator]
            made = join(made, instance(f"torch.nn.{layer}"))
    # MindSpore calls some layers by other names: the text must be asked for in torch's words.
    state.record(name.node, "torch.nn.Module.__name__", "attribute")
    return name.variable, made, holds


def _is_layer(state: Statements, variable: str) -> bool:
    """A variable with a weight or a bias is a layer; so is what modules() yields."""
    value = state.frame.locals.get(variable, UNKNOWN)
    if value is not UNKNOWN:
        return True
    function = state.frame.function
    return function is not None and any(
        isinstance(part, ast.Attribute)
        and part.attr in _OF_LAYERS
        and name_of(part.value) == variable
        for part in ast.walk(function.node)
    )


def _value(state: Statements, node: ast.expr) -> Value:
    """Of a name, a path, or `type(m)`: reading them again changes nothing."""
    is_type = isinstance(node, ast.Call) and getattr(node.func, "id", "") == "type"
    if is_type or isinstance(node, (ast.Name, ast.Attribute)):
        return state.base(node)[0]
    return UNKNOWN
