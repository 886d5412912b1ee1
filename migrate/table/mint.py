"""What mindspore.mint has for a row: found by name, fitted by comparing the parameter lists.

mint follows torch's names and mostly its parameters, so rows need not repeat them: mint.toml lists
what mint has, once, and its exceptions. A parameter that mint lacks is refused unless it has
torch's default; a default that differs is stated in the call.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from migrate.table.entry import VERSIONS, Overload
from migrate.table.signature import REQUIRED, Parameter, Signature, parse_signature

# Longest prefix first. A method becomes a function that takes its receiver first.
_SPACES = (
    ("torch.nn.functional.", "mindspore.mint.nn.functional."),
    ("torch.nn.", "mindspore.mint.nn."),
    ("torch.linalg.", "mindspore.mint.linalg."),
    ("torch.special.", "mindspore.mint.special."),
    ("torch.optim.", "mindspore.mint.optim."),
    ("torch.distributed.", "mindspore.mint.distributed."),
    ("torch.Tensor.", "mindspore.mint."),
    ("torch.", "mindspore.mint."),
)
KINDS = ("class", "function", "method")
BY_NAME = "by name"  # a row that does not speak of mint takes what mint has under the same name
# Parameters that say where a tensor or a result goes; what a row does with them holds for mint too.
PLACING = frozenset(
    {"device", "generator", "layout", "memory_format", "out", "pin_memory", "requires_grad"}
)
_LACKS = "mindspore.mint has no such parameter"
_LEFT_OUT = "<left out>"  # a default that is no value: the form without the parameter is meant


def gives_value(torch: str, kind: str) -> bool:
    """Of what changes its argument, mint's functions in _ give it back; its collectives do not."""
    return kind == "function" and torch.endswith("_")


def mint_name(torch: str) -> str:
    """Where mint would have it; empty for names that mint has no place for."""
    for prefix, place in _SPACES:
        if torch.startswith(prefix):
            rest = torch[len(prefix) :]
            return "" if "." in rest else place + rest
    return ""


@dataclass(frozen=True, slots=True)
class MintNames:
    """mint.toml: parameter lists by full name (several forms: several), and the exceptions."""

    forms: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    since: Mapping[str, str] = field(default_factory=dict)
    differ: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # by mint's name
    written: Mapping[str, list[str]] = field(default_factory=dict)  # templates by torch's name

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> MintNames:
        forms: dict[str, tuple[str, ...]] = {}
        since: dict[str, str] = {}
        for place, names in document.get("names", {}).items():
            for name, stated in names.items():
                known = stated if isinstance(stated, dict) else {"params": stated}
                params = known["params"]
                forms[f"{place}.{name}"] = (params,) if isinstance(params, str) else tuple(params)
                if known.get("since", VERSIONS[0]) != VERSIONS[0]:
                    since[f"{place}.{name}"] = known["since"]
        return cls(forms, since, document.get("differ", {}), document.get("written", {}))

    def counterpart(self, form: Overload, torch: str, kind: str) -> tuple[str, dict[str, Any]]:
        """mint's name for one form of a row, and the facts to write it with; empty: there is none.

        The name is torch's own, unless the row states another.
        """
        name = mint_name(torch) if form.mint == BY_NAME else form.mint
        facts = self._fit(name, form, kind)
        if facts is not None:
            return name, facts
        if form.mint not in (BY_NAME, "") and name not in self.forms:
            return name, {}  # a table of its own, without mint.toml
        return self._template(torch, form)

    def _fit(self, name: str, form: Overload, kind: str) -> dict[str, Any] | None:
        own = self.differ.get(name, {})
        if name not in self.forms:
            return None
        signatures = [parse_signature(text) for text in self.forms[name]]
        if len(signatures) > 1:
            signatures.append(_merged(signatures))
        fits = [_facts(signature, form, kind, own) for signature in signatures]
        found = [facts for facts in fits if facts is not None]
        if not found:
            return None
        best = min(found, key=lambda facts: sum(len(facts.get(k, ())) for k in ("refuse", "need")))
        since = self.since.get(name, "")
        return {**best, "since": since} if since else best

    def _template(self, torch: str, form: Overload) -> tuple[str, dict[str, Any]]:
        """An expression, where the arguments do not line up; what it leaves out is refused."""
        signature = form.signature
        for text in self.written.get(torch, ()) if signature else ():
            holes = set(re.findall(r"\{(\w+)\}", text))
            left = [p for p in signature.parameters if p.name not in holes] if signature else []
            given = set(signature.names) if signature else set()
            if holes - {"self"} <= given and not any(p.required for p in left):
                refuse = {p.name: form.refuse.get(p.name, _LACKS) for p in left}
                refuse = {n: why for n, why in refuse.items() if n not in form.drop}
                name = text.partition("(")[0]
                return f"mindspore.{name}", {"emit": text, "drop": form.drop, "refuse": refuse}
        return "", {}


def in_mint(form: Overload) -> Overload:
    """The form as it is written for mint, in place of the classic one."""
    facts = form.mint_facts
    return replace(
        form,
        mindspore="" if "emit" in facts else form.mint,
        emit=facts.get("emit", ""),
        helper="",
        rename=facts.get("rename", {}),
        pin=facts.get("pin", {}),
        drop=facts.get("drop", ()),
        refuse=facts.get("refuse", {}),
        values=facts.get("values", {}),
        rules=(),
    )


def takes_torch_arguments(form: Overload) -> bool:
    """Whether mint's object may be passed on for torch's, to be called with torch's arguments.

    What mint lacks may only be where its absence is an error at the call, not another argument.
    """
    if not form.plain or form.signature is None:
        return form.plain
    missing = {*form.drop, *form.refuse} - PLACING - set(form.mint_facts.get("takes", ()))
    return all(p.kind == "keyword" for p in form.signature.parameters if p.name in missing)


def _facts(
    mint: Signature, form: Overload, kind: str, own: Mapping[str, Any]
) -> dict[str, Any] | None:
    """How torch's parameters become mint's; None when they do not line up."""
    torch = form.signature
    if torch is None:
        return {}
    rest = list(mint.parameters[1:] if kind == "method" else mint.parameters)
    if all(p.kind in ("varargs", "varkwargs") for p in torch.parameters) and not rest:
        return {}  # torch.nn.Tanh takes anything and uses nothing
    fit = _Fit(torch, rest, form, own)
    if not all(map(fit.takes, torch.parameters)) or not fit.is_complete():
        return None
    return fit.facts()


class _Fit:
    """torch's parameters put one by one to those of mint."""

    def __init__(
        self, torch: Signature, mint: list[Parameter], form: Overload, own: Mapping[str, Any]
    ) -> None:
        names = torch.names
        self._torch, self._mint, self._own = torch, mint, own
        self._known = {p.name: p for p in mint}
        self._rename = {old: new for old, new in own.get("rename", {}).items() if old in names}
        self._drop = {*form.drop, *own.get("drop", ())} & set(names)
        self._refuse = {
            n: why for n, why in form.refuse.items() if n in PLACING and n not in self._drop
        }
        self._refuse |= {n: why for n, why in own.get("refuse", {}).items() if n in names}
        self._pin: dict[str, str] = dict(own.get("pin", {}))
        self._settled = {*self._pin, *own.get("like", ())}
        self._need: list[str] = []

    def takes(self, parameter: Parameter) -> bool:
        """Whether mint has something for a parameter; notes what is renamed, pinned or refused."""
        if parameter.name in self._drop or parameter.name in self._refuse:
            return True
        target = self._known.get(self._rename.get(parameter.name, parameter.name))
        if target is None:
            self._refuse[parameter.name] = _LACKS
            return not parameter.required and parameter.kind not in ("varargs", "varkwargs")
        if (target.kind == "varargs") != (parameter.kind == "varargs"):
            return False
        if parameter.default == REQUIRED or {parameter.name, target.name} & self._settled:
            return True
        if target.required and parameter.default == "None":
            self._need.append(parameter.name)
        elif _default_differs(parameter, target):
            self._pin[target.name] = parameter.default
        return True

    def is_complete(self) -> bool:
        """Whether every argument that mint requires is given, in its order."""
        given = [p for p in self._torch.parameters if p.required or p.name in self._need]
        sure = {self._rename.get(p.name, p.name) for p in given} | set(self._pin)
        missing = any(p.required and p.name not in sure for p in self._mint)
        return not missing and _in_order(self._torch, self._mint, self._rename)

    def facts(self) -> dict[str, Any]:
        names, own = self._torch.names, self._own
        facts: dict[str, Any] = {
            "rename": self._rename,
            "pin": self._pin,
            "drop": tuple(name for name in names if name in self._drop),
            "refuse": self._refuse,
            "values": {n: v for n, v in own.get("values", {}).items() if n in names},
            "need": tuple(self._need),
            "floats": tuple(name for name in own.get("floats", ()) if name in names),
            # Dropped where the call is seen, since it changes nothing there; an object that is
            # passed on may be given it.
            "takes": tuple(name for name in names if name in self._drop and name in self._known),
        }
        return {key: value for key, value in facts.items() if value}


def _default_differs(torch: Parameter, mint: Parameter) -> bool:
    if mint.default == REQUIRED:
        return True
    try:
        same: bool = ast.literal_eval(torch.default) == ast.literal_eval(mint.default)
    except (ValueError, SyntaxError):
        return False  # a name (ReduceOp.SUM), which each framework spells in its own way
    return not same


def _in_order(torch: Signature, mint: list[Parameter], rename: Mapping[str, str]) -> bool:
    """Required leading arguments are written by position: mint must take them in that order."""
    leading = [rename.get(p.name, p.name) for p in torch.positional if p.required]
    places = [p.name for p in mint if p.kind in ("normal", "positional")]
    return leading == places[: len(leading)]


def _merged(signatures: list[Signature]) -> Signature:
    """All forms in one: what only some of them take may be left out."""
    found: dict[str, Parameter] = {}
    for signature in signatures:
        for parameter in signature.parameters:
            found.setdefault(parameter.name, parameter)
    return Signature(
        tuple(
            parameter
            if all(name in s.names for s in signatures)
            else replace(parameter, default=_LEFT_OUT)
            for name, parameter in found.items()
        )
    )
