"""The training step as a value: what the planner found out about one backward pass."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import NamedTuple

from migrate.plan.find import Backward
from migrate.plan.input_gradients import InputGradients
from migrate.plan.interface import Versions
from migrate.plan.mode import Switches


@dataclass(slots=True, eq=False)
class TrainingStep:
    """One backward pass and everything that belongs to it."""

    backward: Backward
    optimizer: str  # empty: the program updates its parameters itself, or elsewhere
    weights: str  # the parameters whose gradients are taken
    region: list[ast.stmt]  # becomes the body of the forward function
    deferred: list[ast.stmt]  # stood between, but only looks at results: goes behind
    parameters: list[str]
    outputs: list[str]
    anchor: ast.stmt  # the forward function goes in front of this statement
    accumulates: bool
    forward_name: str = "forward_step"
    grad_name: str = "grad_step"
    grads_name: str = "grads"
    store_name: str = "gradients"
    owns_store: bool = True  # the first of several backward passes that share an optimizer
    loop: ast.stmt | None = None  # the outermost one around the step
    # The step of the other branch: `if scaler: ... else: loss.backward()`.
    instead: TrainingStep | None = None
    near: ast.stmt | None = None  # that loop, or the innermost one where each round builds anew
    guard: ast.If | None = None  # decides whether there is a backward pass at all
    settled: bool = False  # the guard's test is known in front of the loop
    switched: list[str] = field(default_factory=list)  # models to be set to training mode first
    may_freeze: bool = False  # somewhere in the program requires_grad is set
    on_parameters: bool = False  # the program looks for the gradients at `p.grad`
    unused: bool = False  # nothing looks at the gradients
    detached: list[ast.stmt] = field(default_factory=list)  # stand in front, without gradients
    flowing: list[ast.stmt] = field(default_factory=list)  # of the region, with gradients
    versions: Versions = field(default_factory=Versions)  # earlier values that are read later
    # Statement -> inputs that some way to the step does not bind: they start as None there.
    unbound: dict[ast.stmt, list[str]] = field(default_factory=dict)
    running: list[str] = field(default_factory=list)  # networks that the step calls
    beside: bool = False  # takes gradients of networks that its optimizers do not train
    copied: list[str] = field(default_factory=list)  # parameters of which the region changes parts
    may_skip: bool = False  # by its results, in front of backward()


class Role(NamedTuple):
    """What a statement is to a step: its backward pass, a zero_grad, a clipping, ..."""

    kind: str
    step: TrainingStep
    detail: str = ""


@dataclass(slots=True, eq=False)
class Plans:
    """All steps of a file, and what becomes of the single statements."""

    steps: list[TrainingStep] = field(default_factory=list)
    roles: dict[ast.AST | None, Role] = field(default_factory=dict)  # of statements
    handled: set[ast.AST | None] = field(default_factory=set)  # calls that other passes leave alone
    gradients: list[InputGradients] = field(default_factory=list)  # of plain tensors
    models: dict[str, set[str]] = field(default_factory=dict)  # optimizer -> what it trains
    accumulates: bool = False  # some step lets gradients add up
    tape: bool = False  # gradients are recorded while the program runs
    on_parameters: bool = False  # gradients are stored at the parameters, as torch does
    apart: set[ast.AST] = field(default_factory=set)  # steps in functions without a backward pass
    are_read: bool = False  # and the program looks at them
    switches: Switches = field(default_factory=Switches)  # to training mode

    def note(self, statement: ast.stmt, call: ast.Call, role: Role) -> None:
        """The last step that claims a statement is the nearest one before it."""
        self.roles[statement] = role
        self.handled.add(call)
