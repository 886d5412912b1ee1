"""Calls of torch's whose form depends on more than their row: on what is done with the result."""

from __future__ import annotations

import ast
from dataclasses import dataclass

import libcst as cst

from migrate.flow.dtypes import WHOLE
from migrate.flow.project_flags import draws_from_numpy, thaws
from migrate.pipeline.refusal import Refusal
from migrate.resolve import Usage
from migrate.resolve.values import PARAMETER, Instance, ProjectClass
from migrate.rewrite.calls.call_sites import CallSites
from migrate.rewrite.cells.buffers import as_parameter
from migrate.rewrite.effects import Effects
from migrate.rewrite.names.library_names import LibraryNames
from migrate.rewrite.node_pass import FileAccess, FileRewrite
from migrate.rewrite.tensors.reject_numpy_union import reject_numpy_union
from migrate.syntax.nodes import atomic, expression
from migrate.table import Entry

_MEANS = ("torch.mean", "torch.Tensor.mean")
_SEEDS = frozenset({"torch.manual_seed", "torch.cuda.manual_seed", "torch.cuda.manual_seed_all"})


@dataclass(slots=True)
class Site:
    """A call of torch's in hand: its row, and the object whose method it is."""

    usage: Usage
    partner: ast.Call
    updated: cst.Call
    entry: Entry
    receiver: cst.BaseExpression | None


class SpecialCalls(FileAccess):
    """Writes them."""

    def __init__(self, file: FileRewrite) -> None:
        super().__init__(file)
        self._sites = file.shared(CallSites)
        self._effects = file.shared(Effects)
        self._names = file.shared(LibraryNames)

    def pool(self, partner: ast.Call) -> cst.BaseExpression | None:
        """Adaptive pools whose input is known: a pool with a kernel."""
        kernel = self._sites.sized_pools.get(partner)
        if kernel is None:
            return None
        size = str(kernel[0]) if kernel[0] == kernel[1] else str(kernel)
        name = self.spelling.name("mindspore.nn.AvgPool2d")
        return expression(f"{name}(kernel_size={size}, stride={size})")

    def form(self, site: Site) -> cst.BaseExpression | None:
        """None where the row says it all. Raises Refusal."""
        partner, receiver = site.partner, site.receiver
        if receiver is not None and not site.entry.main.plain:
            reject_numpy_union(getattr(partner.func, "value", partner), self.context)
        if receiver is not None and partner in self._sites.compared_types:
            return cst.Attribute(value=atomic(receiver), attr=cst.Name("dtype"))
        if receiver is not None and partner in self._sites.member_iterations:
            name = self.spelling.name(f"helpers.{self._sites.member_iterations[partner]}")
            return cst.Call(func=expression(name), args=[cst.Arg(receiver)])
        within = site.entry.main.within
        if within and self._place(partner) not in within:
            value = self._names.value(site.usage, site.entry)
            return site.updated.with_changes(func=expression(value))
        if site.entry.torch in _MEANS and self._has_no_mean(partner):
            name = self.spelling.name("helpers.mean")
            given = [] if receiver is None else [cst.Arg(receiver)]
            return cst.Call(func=expression(name), args=[*given, *site.updated.args])
        if receiver is None:
            return self._seed(site)
        if site.entry.torch == "torch.Tensor.numpy" and not partner.keywords:
            return self._leaf_array(partner, receiver)
        return self._buffer(site, receiver) or self._trainable(partner, receiver)

    def _has_no_mean(self, partner: ast.Call) -> bool:
        """Of whole numbers MindSpore gives a whole number, and torch raises."""
        if any(keyword.arg == "dtype" for keyword in partner.keywords):
            return False
        function = self.context.usage(partner.func)
        method = function is not None and function.api == "torch.Tensor.mean"
        subject = getattr(partner.func, "value", None) if method else next(iter(partner.args), None)
        return subject is not None and self.context.flow.dtypes.of(subject) in WHOLE

    def _seed(self, site: Site) -> cst.BaseExpression | None:
        """mindspore.set_seed seeds numpy, too: numbers that a program draws there would change."""
        if site.entry.torch not in _SEEDS:
            return None
        if not draws_from_numpy(self.context.modules.project):
            return None
        name = self.spelling.name("helpers.manual_seed")
        return site.updated.with_changes(func=expression(name))

    def _leaf_array(
        self, partner: ast.Call, receiver: cst.BaseExpression
    ) -> cst.BaseExpression | None:
        """`weight.numpy()` raises in torch while the weight requires a gradient."""
        subject = getattr(partner.func, "value", None)
        if self.context.type(subject) is not PARAMETER or getattr(subject, "attr", "") == "data":
            return None
        name = self.spelling.name("helpers.leaf_array")
        return cst.Call(func=expression(name), args=[cst.Arg(receiver)])

    def _place(self, partner: ast.Call) -> str:
        """Whose list the call stands in, as rows say it."""
        holder = self._sites.listed_for.get(partner, "")
        images = holder and partner in self._sites.before_tensors
        return f"{holder} before ToTensor" if images else holder

    def _buffer(self, site: Site, receiver: cst.BaseExpression) -> cst.BaseExpression | None:
        """`self.register_buffer("mean", x)` of a buffer that is changed: an assignment."""
        sites = self._sites
        name = sites.stateful.get(site.partner) or sites.buffers_before.get(site.partner)
        if name is None or site.partner not in self._sites.statements:
            return None
        dtypes = self._dtypes_of_buffer(site.partner, name)
        if len(dtypes) > 1:
            reason = (
                f"the buffer {name} is {' and '.join(dtypes)} in turn: it keeps its first dtype"
            )
            step = "register it with the dtype that it gets later, or cast what it is given"
            self.flag(site.partner, Refusal(reason, step, "MS302"))
        made = cst.Call(func=cst.Name(name))  # stands for it until the statement is left
        new = as_parameter(name, receiver, site.updated, self.spelling)
        self._effects.assignments[made] = new
        return made

    def _dtypes_of_buffer(self, partner: ast.Call, name: str) -> list[str]:
        """The dtypes of all that the class gives a buffer, as far as they are known."""
        owner = self.context.type(getattr(partner.func, "value", None))
        cls = owner.cls if isinstance(owner, Instance) else None
        if not isinstance(cls, ProjectClass):
            return []
        flow = self.context.flow
        found = {flow.dtypes.of(value) for value, _ in flow.effects.layers.assigned(cls, name)}
        return sorted(found - {""})

    def _trainable(
        self, partner: ast.Call, receiver: cst.BaseExpression
    ) -> cst.BaseExpression | None:
        """`model.parameters()` for an optimizer."""
        if partner not in self._sites.for_optimizer or thaws(self.context.modules.project):
            return None
        return cst.Call(
            func=cst.Attribute(value=atomic(receiver), attr=cst.Name("trainable_params"))
        )
