"""Judge one use by its row, its arguments, and the device and mode that the user has in mind."""

from __future__ import annotations

import ast

from migrate.analyze import adaptive, device_dtypes, dry_runs
from migrate.analyze.arguments import bind, constant, objection
from migrate.analyze.model import Options, Place, Use
from migrate.flow import Flow
from migrate.resolve.usage import Usage
from migrate.resolve.values import Value
from migrate.table import Entry, Table

_MODE_NAMES = {"pynative": "PyNative", "graph": "Graph"}


def judge(
    usage: Usage,
    place: Place,
    table: Table,
    types: dict[ast.AST, Value],
    options: Options,
    flow: Flow | None = None,
) -> Use:
    """The use with the first reason, if any, why it does not port by itself; with the flow of the
    file, dtypes that the device refuses count too.
    """
    entry = table.get(usage.api)
    if usage.form == "unknown":
        return Use(usage.api, "unknown", place, "MS307", "the receiver's type is not known")
    if entry is None and usage.api.removesuffix(".__dict__") in table.namespaces:
        problem = "which of its members is meant is only known when the program runs"
        return Use(usage.api, usage.form, place, "MS311", problem)
    if entry is None:
        return Use(usage.api, usage.form, place, "MS303", "the mapping table does not list it")
    ascend = options.device == "Ascend"
    opinion = dry_runs.opinion(entry, options.mode) if ascend else None
    code, problem = _standing(entry, options, opinion)
    if code == "MS302" and usage.form in ("annotation", "type"):
        code = problem = ""  # only the name is needed, and that is certain
    hint = ""
    if isinstance(usage.call, ast.Call):
        if not code:
            code, problem = objection(entry, usage.call, types)
        if not code and flow is not None:
            problem = device_dtypes.objection(usage, entry, flow)
            code = "MS304" if problem else ""
        hint = _adaptive(entry, usage.call)
    note = opinion.note if opinion and not code and usage.call is not None else ""
    return Use(entry.torch, usage.form, place, code, problem, hint, note)


def _standing(entry: Entry, options: Options, opinion: dry_runs.Opinion | None) -> tuple[str, str]:
    """What the row alone says, whatever the arguments."""
    if entry.status == "missing":
        return "MS301", entry.note or "MindSpore has no counterpart"
    if opinion is not None:  # measured: it outweighs what MindSpore's docstrings say of the device
        if opinion.problem:
            return "MS304", opinion.problem
    elif options.device and options.device not in entry.platforms:
        return "MS304", f"{entry.target} does not run on {options.device}"
    wanted = ("pynative", "graph") if options.mode == "both" else (options.mode,)
    for mode in wanted:
        if mode not in entry.modes:
            return "MS305", f"{entry.target} does not run in {_MODE_NAMES[mode]} mode"
    if entry.status == "risky":
        return "MS302", entry.note or "the counterpart may behave differently"
    return "", ""


def _adaptive(entry: Entry, call: ast.Call) -> str:
    if "daptive" not in entry.torch:
        return ""
    signature = entry.main.signature
    if signature is None or signature.get("output_size") is None:
        return ""
    return adaptive.advice(entry.torch, constant(bind(signature, call).get("output_size")))
