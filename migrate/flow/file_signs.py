"""What the syntax of one file shows, found in one walk: it sets requires_grad, it calls backward.

Signs are a program's *may*: a getattr by name counts as the attribute, a name in a string as the
name. Comments and docstrings say nothing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from enum import Flag, auto
from functools import lru_cache
from typing import Any, NamedTuple

from migrate.flow.inplace_layers import built_in_place
from migrate.project import ReadProblem, SourceFile, shared_tree
from migrate.syntax.ast_index import all_nodes, nodes_of


class Sign(Flag):
    """One bit each, so that a file's signs are a number."""

    NOTHING = 0
    LOOKS_FOR_NAN = auto()
    NAMES_INFINITY = auto()
    SETS_REQUIRES_GRAD = auto()
    THAWS = auto()  # a requires_grad that may become true
    READS_GRADIENTS = auto()
    FORMATS_NUMBERS = auto()
    CALLS_BACKWARD = auto()
    NAMES_OPTIMIZERS = auto()
    ADDS_GROUPS = auto()
    CYCLES_MOMENTUM = auto()
    CALLS_EVAL = auto()
    DEPENDS_ON_MODE = auto()
    SETS_MODE_WHEN_BUILT = auto()
    DRAWS_FROM_NUMPY = auto()  # from its global stream
    SEEDS_NUMPY = auto()
    MAKES_COMPLEX = auto()
    NAMES_DOUBLES = auto()
    UNDOES_TANH = auto()  # 1 - y ** 2, atanh(y)
    SETS_GRAD_MODE = auto()
    SWITCHES_GRAD_MODE = auto()  # by a call of its own, not for a block
    DEFINES_BACKWARD = auto()  # a method of that name that takes the loss


_SIGNS = "_signs"  # of a tree, where they are remembered
_NAMED = {
    **dict.fromkeys(
        (
            *("isnan", "isfinite", "isinf", "nan_to_num", "nansum", "nanmean", "nan", "NaN", "NAN"),
            *("detect_anomaly", "set_detect_anomaly"),
        ),
        Sign.LOOKS_FOR_NAN,
    ),
    **dict.fromkeys(("optim", "Optimizer"), Sign.NAMES_OPTIMIZERS),
    **dict.fromkeys(
        (
            *("fft", "ifft", "rfft", "hfft", "fft2", "ifft2", "rfft2", "fftn", "ifftn", "rfftn"),
            *("stft", "view_as_complex", "polar", "complex", "as_complex"),
            *("cfloat", "cdouble", "complex64", "complex128", "eig", "eigvals"),
        ),
        Sign.MAKES_COMPLEX,
    ),
    **dict.fromkeys(("atanh", "arctanh", "TanhTransform"), Sign.UNDOES_TANH),
    **dict.fromkeys(("float64", "double", "DoubleTensor"), Sign.NAMES_DOUBLES),
    **dict.fromkeys(("OneCycleLR", "CyclicLR"), Sign.CYCLES_MOMENTUM),
    **dict.fromkeys(("no_grad", "inference_mode"), Sign.SETS_GRAD_MODE),
    "set_grad_enabled": Sign.SETS_GRAD_MODE | Sign.SWITCHES_GRAD_MODE,
}
_INFINITY = frozenset({"inf", "Inf", "infty", "Infinity", "NINF", "PINF"})
_ATTRIBUTES = {
    "backward": Sign.CALLS_BACKWARD,
    "add_param_group": Sign.ADDS_GROUPS,
    "eval": Sign.CALLS_EVAL | Sign.DEPENDS_ON_MODE,
    "training": Sign.DEPENDS_ON_MODE,
    "requires_grad_": Sign.SETS_REQUIRES_GRAD,
}
# Parts of the names of what computes something else in training mode, in lower case.
_BY_MODE = (
    *("dropout", "drop_path", "droppath", "batchnorm", "batch_norm", "instancenorm"),
    *("instance_norm", "rrelu", "transformer", "spectral_norm", "stochastic_depth"),
    *("stochasticdepth", "timm"),
)
# Members of numpy.random that draw nothing from its global stream.
_OWN_STREAMS = frozenset(
    {"seed", "default_rng", "RandomState", "Generator", "SeedSequence", "PCG64", "MT19937"}
)
_SEEDING = frozenset({"seed", "set_state"})
_MODES = frozenset({"eval", "train", "training"})
_BY_NAME = frozenset({"getattr", "setattr", "hasattr", "methodcaller", "attrgetter"})
# The texts of formats, not code: `.3f` behind a colon, `:6.2f` in a format that is put together.
_SPEC = r"[ <>^+]?\d*,?(?:\.\d+)?[efgEFG%]"
_FORMAT_SPEC = re.compile(rf"{_SPEC}$")
_IN_TEXT = re.compile(rf":{_SPEC}(?:[\"'}}]|$)")


class FileFacts(NamedTuple):
    """What the files around want to know of one."""

    signs: Sign = Sign.NOTHING
    imported: frozenset[str] = frozenset()  # names that it takes from other modules than torch's
    in_place: frozenset[str] = frozenset()  # classes of layers that it builds to work in place


@lru_cache(maxsize=8192)
def facts_of(source: SourceFile) -> FileFacts:
    """Those of a file; one that cannot be parsed has none, and whoever ports it says why."""
    try:
        tree = shared_tree(source)
    except ReadProblem:
        return FileFacts()
    in_place = frozenset(built_in_place(tree))
    return FileFacts(signs_in(tree), frozenset(_imported(tree)), in_place)


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in nodes_of(tree, ast.ImportFrom):
        if node.level or (node.module or "").partition(".")[0] not in ("torch", "torchvision"):
            for alias in node.names:
                yield alias.name
                yield alias.asname or alias.name


def signs_in(tree: ast.Module) -> Sign:
    """Those of a tree, which is walked once."""
    found: Sign | None = getattr(tree, _SIGNS, None)
    if found is None:
        found = _found_in(tree)
        setattr(tree, _SIGNS, found)
    return found


def _found_in(tree: ast.Module) -> Sign:
    found = nothing = Sign.NOTHING
    names: set[str] = set()
    nodes = all_nodes(tree)
    docstrings = {n.value for n in nodes_of(tree, ast.Expr) if n.value.__class__ is ast.Constant}
    for node in nodes:
        look = _LOOKS.get(node.__class__)
        if look is not None and node not in docstrings:
            sign = look(node, names)
            if sign is not nothing:  # to join two flags takes longer than to look
                found |= sign
    called = {node.func for node in nodes_of(tree, ast.Call)}
    if any(_is_gradient(n) and n not in called for n in nodes_of(tree, ast.Attribute)):
        found |= Sign.READS_GRADIENTS
    if _sets_mode_when_built(tree):
        found |= Sign.SETS_MODE_WHEN_BUILT
    for sign in {_NAMED[name] for name in names & _NAMED.keys()}:
        found |= sign
    if any(map(_depends_on_mode, names)):
        found |= Sign.DEPENDS_ON_MODE
    return found


def _depends_on_mode(name: str) -> bool:
    lower = name.lower()
    return any(part in lower for part in _BY_MODE)


def _name(node: ast.Name, names: set[str]) -> Sign:
    names.add(node.id)
    return Sign.NOTHING


def _attribute(node: ast.Attribute, names: set[str]) -> Sign:
    names.add(node.attr)
    found = _ATTRIBUTES.get(node.attr, Sign.NOTHING)
    if node.attr in _INFINITY:
        found |= Sign.NAMES_INFINITY
    if node.attr == "models" and isinstance(node.value, ast.Name):
        found |= Sign.DEPENDS_ON_MODE if node.value.id == "torchvision" else Sign.NOTHING
    if node.attr not in _OWN_STREAMS and _is_numpy_random(node.value):
        found |= Sign.DRAWS_FROM_NUMPY
    if node.attr in _SEEDING and _is_numpy_random(node.value):
        found |= Sign.SEEDS_NUMPY
    return found


def _is_numpy_random(node: ast.expr) -> bool:
    """`np.random`, whatever numpy is imported as; torch.random draws from torch's stream."""
    return (
        isinstance(node, ast.Attribute)
        and node.attr == "random"
        and isinstance(node.value, ast.Name)
        and node.value.id != "torch"
    )


def _is_gradient(node: ast.Attribute) -> bool:
    """`p.grad`; not `autograd.grad`."""
    owner = getattr(node.value, "attr", getattr(node.value, "id", ""))
    return node.attr == "grad" and owner != "autograd"


def _alias(node: ast.alias, names: set[str]) -> Sign:
    names.update(node.name.split("."))
    return Sign.NAMES_INFINITY if node.name in _INFINITY else Sign.NOTHING


def _import_from(node: ast.ImportFrom, names: set[str]) -> Sign:
    module = node.module or ""
    names.update(module.split("."))
    models = module.startswith("torchvision") and (
        "models" in module or any(alias.name == "models" for alias in node.names)
    )
    found = Sign.DEPENDS_ON_MODE if models else Sign.NOTHING
    drawn = {alias.name for alias in node.names} - _OWN_STREAMS
    if (module == "numpy.random" and drawn) or (module == "numpy" and "random" in drawn):
        found |= Sign.DRAWS_FROM_NUMPY | Sign.SEEDS_NUMPY  # `random.seed(0)` may follow
    elif module == "numpy.random" and any(alias.name in _SEEDING for alias in node.names):
        found |= Sign.SEEDS_NUMPY
    return found


def _import(node: ast.Import, names: set[str]) -> Sign:
    models = any(alias.name.startswith("torchvision.models") for alias in node.names)
    return Sign.DEPENDS_ON_MODE if models else Sign.NOTHING


def _call(node: ast.Call, names: set[str]) -> Sign:
    found = Sign.NOTHING
    called = getattr(node.func, "attr", getattr(node.func, "id", ""))
    if called == "requires_grad_":
        given = node.args[0] if node.args else next((k.value for k in node.keywords), None)
        found |= Sign.NOTHING if _is_false(given) else Sign.THAWS
    elif called == "train" and isinstance(node.func, ast.Attribute):  # not `args.train`
        values = [*node.args, *(keyword.value for keyword in node.keywords)]
        off = any(not (isinstance(one, ast.Constant) and one.value is True) for one in values)
        found |= Sign.DEPENDS_ON_MODE | (Sign.CALLS_EVAL if off else Sign.NOTHING)
    elif called in _BY_NAME:
        found |= _reached_by_name(called, node.args)
    elif called == "format" and len(node.args) == 2 and _is_format(node.args[1]):
        found |= Sign.FORMATS_NUMBERS
    return found


def _reached_by_name(called: str, arguments: list[ast.expr]) -> Sign:
    found = Sign.NOTHING
    for argument in arguments:
        name = argument.value if isinstance(argument, ast.Constant) else None
        if name == "requires_grad":
            found |= Sign.SETS_REQUIRES_GRAD | Sign.THAWS if called == "setattr" else Sign.NOTHING
        elif name == "grad":
            found |= Sign.READS_GRADIENTS
        elif isinstance(name, str):
            found |= _ATTRIBUTES.get(name, Sign.NOTHING)
    return found


def _class(node: ast.ClassDef, names: set[str]) -> Sign:
    """`def backward(self, loss)` of an accelerator or a trainer; custom gradients are static."""
    own = (m for m in node.body if isinstance(m, ast.FunctionDef) and m.name == "backward")
    takes = any(not method.decorator_list and len(method.args.args) > 1 for method in own)
    return Sign.DEFINES_BACKWARD if takes else Sign.NOTHING


def _compare(node: ast.Compare, names: set[str]) -> Sign:
    """`x != x` and `x == x` tell NaN from numbers."""
    if len(node.ops) != 1 or not isinstance(node.ops[0], (ast.Eq, ast.NotEq)):
        return Sign.NOTHING
    left, right = node.left, node.comparators[0]
    if left.__class__ is not right.__class__ or isinstance(left, ast.Constant):
        return Sign.NOTHING
    return Sign.LOOKS_FOR_NAN if ast.dump(left) == ast.dump(right) else Sign.NOTHING


def _difference(node: ast.BinOp, names: set[str]) -> Sign:
    """`1 - y.pow(2)`, `1 - y ** 2`, `1 - y * y`"""
    left, right = node.left, node.right
    if not (isinstance(node.op, ast.Sub) and isinstance(left, ast.Constant) and left.value == 1):
        return Sign.NOTHING
    if isinstance(right, ast.Call):
        called = getattr(right.func, "attr", getattr(right.func, "id", ""))
        return Sign.UNDOES_TANH if called in ("pow", "square") else Sign.NOTHING
    squared = isinstance(right, ast.BinOp) and (
        isinstance(right.op, ast.Pow)
        or (isinstance(right.op, ast.Mult) and ast.dump(right.left) == ast.dump(right.right))
    )
    return Sign.UNDOES_TANH if squared else Sign.NOTHING


def _keyword(node: ast.keyword, names: set[str]) -> Sign:
    """`nn.Parameter(x, requires_grad=False)`, and what may be False there."""
    if node.arg != "requires_grad":
        return Sign.NOTHING
    true = isinstance(node.value, ast.Constant) and node.value.value is True
    return Sign.NOTHING if true else Sign.SETS_REQUIRES_GRAD


def _assign(node: ast.Assign | ast.AugAssign | ast.AnnAssign, names: set[str]) -> Sign:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    parts = [part for target in targets for part in _unpacked(target)]
    if any(isinstance(p, ast.Attribute) and p.attr == "training" for p in parts):
        return Sign.CALLS_EVAL
    if not any(isinstance(p, ast.Attribute) and p.attr == "requires_grad" for p in parts):
        return Sign.NOTHING
    frozen = not isinstance(node, ast.AugAssign) and _is_false(node.value)
    return Sign.SETS_REQUIRES_GRAD | (Sign.NOTHING if frozen else Sign.THAWS)


def _unpacked(target: ast.expr) -> list[ast.expr]:
    if isinstance(target, (ast.Tuple, ast.List)):
        return [part for element in target.elts for part in _unpacked(element)]
    return [target]


def _is_false(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is False


def _formatted(node: ast.FormattedValue, names: set[str]) -> Sign:
    spec = node.format_spec
    last = spec.values[-1] if isinstance(spec, ast.JoinedStr) and spec.values else None
    return Sign.FORMATS_NUMBERS if last is not None and _is_format(last) else Sign.NOTHING


def _is_format(node: ast.expr) -> bool:
    value = node.value if isinstance(node, ast.Constant) else None
    return isinstance(value, str) and _FORMAT_SPEC.search(value) is not None


def _constant(node: ast.Constant, names: set[str]) -> Sign:
    value = node.value
    if isinstance(value, float):
        infinite = value in (float("inf"), float("-inf"))  # 1e999
        return Sign.NAMES_INFINITY if infinite else Sign.NOTHING
    if isinstance(value, complex):
        return Sign.MAKES_COMPLEX  # 1j * x
    if not isinstance(value, str):
        return Sign.NOTHING
    found = Sign.DEPENDS_ON_MODE if _depends_on_mode(value) else Sign.NOTHING
    word = value.strip().lower().lstrip("+-")
    if word in ("inf", "infinity"):
        found |= Sign.NAMES_INFINITY
    elif word == "nan":
        found |= Sign.LOOKS_FOR_NAN
    if "torch.optim" in value:
        found |= Sign.NAMES_OPTIMIZERS
    if value in _NAMED:
        found |= _NAMED[value]
    if ":" in value and _IN_TEXT.search(value):
        found |= Sign.FORMATS_NUMBERS
    return found


def _sets_mode_when_built(tree: ast.Module) -> bool:
    """`self.bn.eval()` in a constructor or in a method that one calls; a `train` of a network's
    own, which torch does not call when the network is built.
    """
    methods: dict[str, list[ast.FunctionDef]] = {}
    for cls in nodes_of(tree, ast.ClassDef):
        own = [node for node in cls.body if isinstance(node, ast.FunctionDef)]
        for method in own:
            methods.setdefault(method.name, []).append(method)
        if any(node.name == "train" and _is_switch(node, own) for node in own):
            return True
    reached, names = set[str](), ["__init__"]
    while names:
        name = names.pop()
        if name in reached:
            continue
        reached.add(name)
        for method in methods.get(name, ()):
            attributes = [n for n in all_nodes(method) if isinstance(n, ast.Attribute)]
            if any(n.attr in _MODES for n in attributes):
                return True
            names += [n.attr for n in attributes if getattr(n.value, "id", "") == "self"]
    return False


def _is_switch(train: ast.FunctionDef, own: list[ast.FunctionDef]) -> bool:
    """A network's `train(self, mode=True)`, not what a trainer calls its loop."""
    attributes = {n.attr for n in all_nodes(train) if isinstance(n, ast.Attribute)}
    return bool(attributes & _MODES) and (
        len(train.args.args) == 2 or any(node.name == "forward" for node in own)
    )


_LOOKS: dict[type[ast.AST], Callable[[Any, set[str]], Sign]] = {
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.alias: _alias,
    ast.ImportFrom: _import_from,
    ast.Import: _import,
    ast.Call: _call,
    ast.ClassDef: _class,
    ast.Compare: _compare,
    ast.BinOp: _difference,
    ast.keyword: _keyword,
    ast.Assign: _assign,
    ast.AugAssign: _assign,
    ast.AnnAssign: _assign,
    ast.FormattedValue: _formatted,
    ast.Constant: _constant,
}
