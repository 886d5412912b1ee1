"""Schedules as lists of learning rates, one a step, which optimizers of mindspore.nn take.

Each form was compared with torch over seven epochs of three steps: losses and weights agree within
1e-6. A schedule that is not in the list, or that runs longer than its decay, stays an object that a
callback steps.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from migrate.pipeline.context import Context
from migrate.plan.bound_arguments import bound_arguments, literal_of
from migrate.style.optimizers import Creation, as_float

_SCHEDULES = "torch.optim.lr_scheduler."


class Rates:
    """What the functions of mindspore.nn take of a schedule."""

    def __init__(
        self,
        creation: Creation,
        context: Context,
        rate: str,
        epochs: str,
        loader: str,
        *,
        per_step: bool,
    ) -> None:
        name = creation.api.removeprefix(_SCHEDULES)
        self.name = name if creation.api.startswith(_SCHEDULES) else ""
        self._context, self.rate, self._per_step = context, rate, per_step
        self.arguments = bound_arguments(creation.call, creation.api, context.table)
        self._epochs, self._loader = epochs, loader

    @property
    def total(self) -> str:
        return f"{_factor(self._epochs)} * len({self._loader})"

    @property
    def unit(self) -> str:
        """Steps in one unit of the schedule."""
        return "1" if self._per_step else f"len({self._loader})"

    @property
    def units(self) -> str:
        """Units in the whole training."""
        return self.total if self._per_step else self._epochs

    def number(self, name: str, default: float | None = None) -> str:
        node = (self.arguments or {}).get(name)
        if node is None:
            return repr(default)
        return as_float(node, self._context)

    def source(self, name: str) -> str:
        node = (self.arguments or {}).get(name)
        return ast.unparse(node) if node is not None else ""

    def covers(self, length: str) -> bool:
        """Whether the whole training is no longer than so many units."""
        if _plain(length) == _plain(self.units):
            return True
        return length.isdigit() and self.units.isdigit() and int(self.units) <= int(length)


def rates_of(rates: Rates) -> str:
    """The list as source, with MindSpore's names below `__mindspore__`; "" where it stays."""
    if rates.arguments is None or not _is_plain(rates):
        return ""
    form = _FORMS.get(rates.name)
    return form(rates) if form is not None else ""


def _is_plain(rates: Rates) -> bool:
    given = rates.arguments or {}
    last = given.get("last_epoch")
    return last is None or literal_of(last) == -1


def _cosine(rates: Rates) -> str:
    length = rates.source("T_max")
    if not rates.covers(length):
        return ""
    least = rates.number("eta_min", 0.0)
    return (
        f"__mindspore__.nn.cosine_decay_lr(min_lr={least}, max_lr={rates.rate}, "
        f"total_step={rates.total}, step_per_epoch={rates.unit}, decay_epoch={length})"
    )


def _stairs(rates: Rates) -> str:
    gamma, length = rates.number("gamma", 0.1), rates.source("step_size")
    return _exponential_decay(rates, gamma, length)


def _exponential(rates: Rates) -> str:
    return _exponential_decay(rates, rates.number("gamma"), "1")


def _exponential_decay(rates: Rates, gamma: str, length: str) -> str:
    return (
        f"__mindspore__.nn.exponential_decay_lr(learning_rate={rates.rate}, decay_rate={gamma}, "
        f"total_step={rates.total}, step_per_epoch={rates.unit}, decay_epoch={length}, "
        "is_stair=True)"
    )


def _milestones(rates: Rates) -> str:
    given = (rates.arguments or {}).get("milestones")
    listed = literal_of(given) if given is not None else None
    if not isinstance(listed, (list, tuple)) or not rates.units.isdigit():
        return ""
    marks = [mark for mark in sorted(listed) if 0 < mark < int(rates.units)]
    if not marks or len(set(marks)) != len(marks):
        return ""
    gamma = rates.number("gamma", 0.1)
    steps = [mark if rates.unit == "1" else f"{mark} * {rates.unit}" for mark in marks]
    ends = ", ".join(str(step) for step in [*steps, rates.total])
    values = [rates.rate] + [f"{rates.rate} * {gamma}{_power(n)}" for n in range(1, len(marks) + 1)]
    return (
        f"__mindspore__.nn.piecewise_constant_lr(milestone=[{ends}], "
        f"learning_rates=[{', '.join(values)}])"
    )


def _power(number: int) -> str:
    return "" if number == 1 else f" ** {number}"


def _polynomial(rates: Rates) -> str:
    length = rates.source("total_iters") or "5"
    return (
        f"__mindspore__.nn.polynomial_decay_lr(learning_rate={rates.rate}, end_learning_rate=0.0, "
        f"total_step={rates.total}, step_per_epoch={rates.unit}, decay_epoch={length}, "
        f"power={rates.number('power', 1.0)})"
    )


def _function(rates: Rates) -> str:
    function = (rates.arguments or {}).get("lr_lambda")
    if not isinstance(function, (ast.Name, ast.Lambda)):
        return ""
    called = ast.unparse(function)
    called = f"({called})" if isinstance(function, ast.Lambda) else called
    index = "step" if rates.unit == "1" else f"step // {rates.unit}"
    return f"[{rates.rate} * {called}({index}) for step in range({rates.total})]"


_FORMS: dict[str, Callable[[Rates], str]] = {
    "CosineAnnealingLR": _cosine,
    "StepLR": _stairs,
    "ExponentialLR": _exponential,
    "MultiStepLR": _milestones,
    "PolynomialLR": _polynomial,
    "LambdaLR": _function,
}


def _factor(text: str) -> str:
    node = ast.parse(text, mode="eval").body
    return f"({text})" if isinstance(node, (ast.BinOp, ast.BoolOp, ast.IfExp)) else text


def _plain(text: str) -> str:
    """One spelling of a product."""
    node = ast.parse(text or "0", mode="eval").body
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return " * ".join(sorted((ast.unparse(node.left), ast.unparse(node.right))))
    return ast.unparse(node)
