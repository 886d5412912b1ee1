"""Cells and functions with torch's own signature, for what is passed on as a value.

`norm_layer=nn.BatchNorm2d` is called later, somewhere else, with torch's arguments. Where
MindSpore's differ, the ported file passes on a small class that takes torch's and hands MindSpore
its own: written by hand in helpers/, or made here from the table row, by porting one call in which
every argument is a name.
"""

from __future__ import annotations

import builtins
import keyword
from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from migrate.resolve.values import UNKNOWN, Value
from migrate.rewrite.calls.call import Call, Refusal, Slot
from migrate.rewrite.calls.emit import Rules, write_call
from migrate.syntax.import_planner import ImportPlanner
from migrate.syntax.nodes import expression, keyword_argument
from migrate.syntax.text import code
from migrate.table import Entry, Overload
from migrate.table.signature import REQUIRED, Signature

if TYPE_CHECKING:
    from migrate.pipeline.context import Context


def signature_helper(
    entry: Entry, context: Context, *, derive: bool, form: Overload | None = None
) -> str:
    """The name of the helper that has torch's signature for this row, or for one form of it.

    Made from the row if nobody wrote it.
    """
    name = entry.torch.rpartition(".")[2]
    if name in context.helpers and context.helpers.is_class(name) == (entry.kind == "class"):
        return name
    qualified = (
        entry.torch.removeprefix("torch.")
        .replace("nn.functional.", "functional_")
        .replace(".", "_")
    )
    known_as = name if entry.kind == "class" and not is_imported_alone(entry) else qualified
    if known_as in context.helpers:
        known_as = qualified
    if hasattr(builtins, known_as):
        known_as = f"torch_{qualified}"  # other helpers call Python's max
    if form is not None and len(entry.overloads) > 1:
        place = entry.overloads.index(form)
        known_as = f"{qualified}_{place + 1}" if place else qualified
        entry = replace(entry, overloads=(form,))
    if known_as not in context.generated:
        made = _by_arguments if _told_by_arguments(entry) and not derive else signature_source
        text, helpers = made(entry, known_as, derive=derive)
        context.generated[known_as] = text
        context.spelling.helpers |= helpers
    return known_as


def is_imported_alone(entry: Entry) -> bool:
    """mindspore.Parameter: nothing derives from it, and nothing else may take its name."""
    return entry.main.mindspore.rpartition(".")[0] == "mindspore"


def signature_source(entry: Entry, name: str, *, derive: bool) -> tuple[str, dict[str, None]]:
    """The source of a class or function with torch's signature, and the helpers that it uses."""
    sized = _takes_sizes(entry)
    if len(entry.overloads) != 1 and not sized:
        raise Refusal(
            "is passed on as a value, and how it is called there decides its MindSpore form",
            "wrap it in a function that calls it",
            "MS311",
        )
    overload = entry.main
    signature = overload.signature
    if signature is None or not overload.portable:
        raise Refusal(entry.note or "has no counterpart in MindSpore", entry.way, "MS301")
    receiver = "self" if entry.kind == "method" else ""
    call = _symbolic_call(entry, overload, signature, receiver)
    spelling = ImportPlanner(taken=frozenset(signature.names))
    made = write_call(call, spelling, context_rules())
    checks = _checks(entry, signature)
    listed = _parameters(signature)
    if sized:
        listed = listed.replace("size, *,", "*sizes, size=None,", 1)
        checks = [*_SIZES, f"    return {name}((1,), dtype=dtype).reshape(())", *checks]
    parameters = ", ".join([*([receiver] if receiver else []), listed])
    lines = list(spelling.imports)
    layer = entry.kind == "class" and not is_imported_alone(entry)
    if layer and isinstance(made, cst.Call) and not overload.emit:
        base = code(made.func)
        arguments = [a.with_changes(comma=cst.MaybeSentinel.DEFAULT) for a in made.args]
        body = [*checks, f"super().__init__({', '.join(map(code, arguments))})"]
        text = [
            f"class {name}({base}):",
            f'    """{base} with the signature of {entry.torch}."""',
            "",
            f"    def __init__(self, {parameters}):",
            *(f"        {line}" for line in body),
        ]
    elif derive:
        raise Refusal(
            "is derived from, and MindSpore composes it from several operators",
            "rewrite the class by hand",
            "MS311",
        )
    else:
        text = [
            f"def {name}({parameters}):",
            f'    """{entry.torch}, made of MindSpore operators."""',
            *(f"    {line}" for line in checks),
            f"    return {code(made)}",
        ]
    # The helper module itself is where `helpers.` points: inside it the names stand alone.
    body_text = "\n".join(text).replace("helpers.", "")
    kept = [line for line in lines if "ms_migrate_helpers" not in line]
    return "\n".join([*kept, body_text]), spelling.helpers


def _told_by_arguments(entry: Entry) -> bool:
    """`torch.add(x, y)` and `torch.add(x, y, alpha=2)`, `torch.max(x, 1)` and `torch.max(x, y)`:
    the arguments' number, names and types decide the form when the program runs.
    """
    return (
        entry.kind == "function"
        and len(entry.overloads) > 1
        and not _takes_sizes(entry)
        and all(form.portable and _can_be_tested(form.signature) for form in entry.overloads)
    )


# What a parameter's type words are at run time; of the others nothing is said there.
_CLASSES = {
    "Tensor": ("Tensor", "Parameter"),
    "int": ("int",),
    "float": ("float",),
    "bool": ("bool",),
    "sequence": ("list", "tuple"),
    "None": ("type(None)",),
}


def _can_be_tested(signature: Signature | None) -> bool:
    return signature is not None and all(
        parameter.kind not in ("varargs", "varkwargs") and parameter.type_words <= _CLASSES.keys()
        for parameter in signature.parameters
        if parameter.type or parameter.kind in ("varargs", "varkwargs")
    )


def _by_arguments(entry: Entry, name: str, *, derive: bool) -> tuple[str, dict[str, None]]:
    """A function for each form, and one that takes the first that can be called like this."""
    texts: list[str] = []
    helpers: dict[str, None] = {"takes": None}
    tests = []
    for place, form in enumerate(entry.overloads, start=1):
        one = f"{name}_{place}"
        text, needed = signature_source(replace(entry, overloads=(form,)), one, derive=derive)
        imports = [line for line in text.splitlines() if line.startswith(("import ", "from "))]
        texts[0:0] = imports
        texts += ["", "", *(line for line in text.splitlines() if line not in imports)]
        helpers |= needed
        assert form.signature is not None
        tests += [f"    if takes({_form_test(form.signature)}):"]
        tests += [f"        return {one}(*args, **options)"]
    if any("Tensor" in test for test in tests):
        texts.insert(0, "from mindspore import Parameter, Tensor")
    texts += [
        "",
        "",
        f"def {name}(*args, **options):",
        f'    """{entry.torch}, in the form that takes these arguments."""',
        *tests,
        f'    raise TypeError("{entry.torch} takes no such arguments")',
    ]
    return "\n".join(texts), helpers


def _form_test(signature: Signature) -> str:
    """The arguments of `takes`: `args, options, ("input", "dim"), needs=("input", "dim")`."""
    parts = ["args, options", str(tuple(p.name for p in signature.positional))]
    groups = {
        "needs": [p.name for p in signature.parameters if p.required],
        "named": [p.name for p in signature.parameters if p.kind == "keyword"],
    }
    parts += [f"{group}={tuple(names)}" for group, names in groups.items() if names]
    types = []
    for parameter in signature.parameters:
        if parameter.type:
            words = [word for word in _CLASSES if word in parameter.type_words]
            classes = [name for word in words for name in _CLASSES[word]]
            one = "," if len(classes) == 1 else ""
            types.append(f"'{parameter.name}': ({', '.join(classes)}{one})")
    if types:
        parts.append(f"types={{{', '.join(types)}}}")
    return ", ".join(parts).replace("'", '"')


_SIZES = (
    "if size is None:",
    "    size = sizes[0] if len(sizes) == 1 and not isinstance(sizes[0], int) else sizes",
    "if len(size) == 0:",  # MindSpore makes no scalars this way
)


def _takes_sizes(entry: Entry) -> bool:
    """zeros((2, 3)) and zeros(2, 3): the other forms only spell the size out."""
    first = entry.main.signature
    return (
        len(entry.overloads) > 1
        and first is not None
        and [parameter.name for parameter in first.positional] == ["size"]
        and all(
            form.signature is not None
            and form.signature.varargs is not None
            and form.signature.varargs.name == "size"
            for form in entry.overloads[1:]
        )
    )


def _symbolic_call(entry: Entry, overload: Overload, signature: Signature, receiver: str) -> Call:
    """A call in which every torch parameter is given by a variable of the same name."""
    call = Call(
        entry=entry,
        overload=_runtime(overload),
        receiver=expression(receiver) if receiver else None,
        target=overload.mindspore,
        emit=overload.emit,
        helper=overload.helper,
        node=cst.Call(func=cst.Name("f"), args=[]),
    )
    for parameter in signature.parameters:
        if parameter.kind in ("varargs", "varkwargs"):
            raise Refusal(
                "takes any number of arguments and is passed on as a value",
                "wrap it in a function",
                "MS311",
            )
        if parameter.name in overload.refuse or parameter.name in overload.drop:
            continue
        value: cst.BaseExpression = cst.Name(parameter.name)
        table = overload.values.get(parameter.name)
        if table:
            pairs = ", ".join(f"{old}: {new or old}" for old, new in table.items())
            value = expression(f"{{{pairs}}}[{parameter.name}]")
        positional = parameter.required
        source = cst.Arg(value) if positional else keyword_argument(parameter.name, value)
        kind: Value = UNKNOWN
        call.slots[parameter.name] = Slot(
            parameter.name, value, kind, source, positional=positional
        )
        if table:
            outputs = (
                []
                if not any(table.values())
                else [(overload.rename.get(parameter.name, parameter.name), value)]
            )
            call.slots[parameter.name].outputs = outputs
    return call


def _runtime(overload: Overload) -> Overload:
    """The row without what _checks and the dictionary look-ups do at run time."""
    from dataclasses import replace

    return replace(overload, refuse={}, drop=(), values={})


def _checks(entry: Entry, signature: Signature) -> list[str]:
    """Refuse at run time what the porter refuses when it sees the argument."""
    lines = []
    for name, reason in entry.main.refuse.items():
        parameter = signature.get(name)
        if parameter is not None and parameter.default != REQUIRED:
            test = (
                f"{name} is not None"
                if parameter.default == "None"
                else f"{name} != {parameter.default}"
            )
            lines += [
                f"if {test}:",
                f"    raise NotImplementedError({f'{entry.torch}({name}=...): {reason}'!r})",
            ]
    return lines


def _parameters(signature: Signature) -> str:
    """The parameter list as source."""
    parts: list[str] = []
    starred = False
    for parameter in signature.parameters:
        if parameter.kind == "keyword" and not starred:
            parts.append("*")
            starred = True
        name = parameter.name + "_" if keyword.iskeyword(parameter.name) else parameter.name
        parts.append(name if parameter.required else f"{name}={_plain_default(parameter.default)}")
    return ", ".join(parts)


def _plain_default(default: str) -> str:
    return "None" if default.startswith("torch.") else default


def context_rules() -> Rules:
    from migrate.rewrite.rules import all_rules

    return {name: rule.change for name, rule in all_rules().items()}
