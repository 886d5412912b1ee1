"""From the callers of a helper module to the pieces that it needs: round by round, since what one
piece loses another one may no longer be asked for.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import replace
from functools import cache

from migrate.emit.lean.callers import Callers, base_of, calls_of_base, in_piece, in_ported
from migrate.emit.lean.facts import UNSEEN, facts
from migrate.emit.lean.fold import USES
from migrate.emit.lean.parameters import (
    always_the_same,
    constant_result,
    constructor,
    defaults,
    flag_of,
    never_given,
    positions,
)
from migrate.emit.lean.trim import Cut, Known, trimmed
from migrate.table.entry import VERSIONS
from migrate.table.helper_pieces import Definition, HelperIndex
from migrate.table.mindspore_names import MindSporeNames

_ROUNDS = 8
_KNOWN = ("nn.", "optim.")  # bases of MindSpore's whose attributes are listed
_OF_MAPPINGS = {"update", "pop", "clear", "get", "items", "keys", "values"}
# Bases that call no method of a subclass by its name except these. MindSpore's optimizer adds its
# first groups by add_param_group, which is its own where no piece has another.
_CALLED_BY_BASE = {
    "optim.Optimizer": {"construct", "_build_single_lr"},
    "MutableMapping": _OF_MAPPINGS,
    "NamedTuple": set(),
    "dict": _OF_MAPPINGS,
    "str": set(),
}
# Names of what asks annotations for classes, and may make objects of them.
_READ_ANNOTATIONS = frozenset(
    "get_type_hints get_annotations __annotations__ annotation signature fields".split()  # noqa: SIM905
)
# Files of pieces that look attributes of layers up by a computed name, or by one in a text.
_LOOKS_INTO_LAYERS = ("modules_", "text_layers", "vision_")


def lean_pieces(
    index: HelperIndex,
    wanted: list[str],
    made: Iterable[str],
    texts: Iterable[str],
    modules: Collection[str] = (),
    excluded: Collection[str] = (),
) -> list[Definition]:
    """The wanted definitions and what they need, for these ported texts and generated pieces. The
    texts are all of a program if they import none but known `modules`; facts that its source
    excludes do not hold.
    """
    outside = in_ported(texts)
    if outside is None:
        return index.closure(wanted)
    for text in made:
        outside.add(in_piece(ast.parse(text)))
    outside.values |= set(wanted) - set(outside.calls) - outside.asked
    known = facts(outside, wanted, modules, excluded)
    if UNSEEN in known or not _READ_ANNOTATIONS.isdisjoint({*outside.words, *outside.defined}):
        outside.values |= outside.noted
    pieces = {one.name: one for one in index.closure(wanted)}
    for _ in range(_ROUNDS):
        new = _Round(pieces, wanted, outside, known).run()
        if new == pieces:
            break
        pieces = new
    # A class that a piece only asks for, in a form that could not be settled, is still needed.
    for name in {need for one in pieces.values() for need in one.needs} - set(pieces):
        pieces |= {one.name: one for one in index.closure([name]) if one.name not in pieces}
    return HelperIndex(pieces).closure(wanted)


@cache
def _tree(source: str) -> ast.stmt:
    return ast.parse(source).body[-1]


@cache
def _callers(source: str) -> Callers:
    return in_piece(_tree(source))


@cache
def _called_at_once(source: str) -> frozenset[str]:
    """Pieces that another one calls where it is defined, not in a function of its own."""
    tree = _tree(source)
    functions = tree.body if isinstance(tree, ast.ClassDef) else [tree]
    inside = {
        node
        for function in functions
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
    }
    calls = _callers(source).calls
    return frozenset(name for name in calls if any(call not in inside for call in calls[name]))


class _Round:
    """One look at all pieces as they are now."""

    def __init__(
        self,
        pieces: dict[str, Definition],
        wanted: list[str],
        outside: Callers,
        known: Collection[str],
    ) -> None:
        self._wanted = wanted
        self._outside = outside
        self._pieces = self._alive(pieces)
        self._callers = Callers()
        self._callers.add(outside)
        for piece in self._pieces.values():
            self._callers.add(_callers(piece.source))
        self._gone = {name for name in pieces if name not in self._pieces}
        self._classes = {
            name: node
            for name, piece in self._pieces.items()
            if isinstance(node := _tree(piece.source), ast.ClassDef)
        }
        self._fixed = self._fixed_parameters()
        self._results, self._flags = self._constants()
        self._derived: dict[str, list[ast.ClassDef]] = defaultdict(list)
        for node in self._classes.values():
            for base in node.bases:
                self._derived[ast.unparse(base)].append(node)
        self._there = {*self._pieces, *outside.words, *outside.keywords, *outside.defined, *known}
        into_layers = [p for p in self._pieces.values() if p.file.startswith(_LOOKS_INTO_LAYERS)]
        self._sealed = not outside.is_open and not any(
            _callers(piece.source).sets_any for piece in into_layers
        )
        self._unseen = self._sealed and not any(
            piece.file == "text_layers" or _callers(piece.source).is_open for piece in into_layers
        )

    def _fixed_parameters(self) -> dict[str, dict[str, object]]:
        """Of functions between pieces: parameters that are the same constant in every call."""
        at_once = {
            name for piece in self._pieces.values() for name in _called_at_once(piece.source)
        }
        open_ = {*self._outside.calls, *self._wanted, *at_once}
        return {
            name: fixed
            for name, piece in self._pieces.items()
            if name not in open_
            if (fixed := always_the_same(name, _tree(piece.source), self._callers))
        }

    def _constants(self) -> tuple[dict[str, object], dict[str, object]]:
        """What functions return that do nothing else, and variables that are True or False."""
        results: dict[str, object] = {}
        flags: dict[str, object] = {}
        for name, piece in self._pieces.items():
            node = _tree(piece.source)
            result, flag = constant_result(node), flag_of(node)
            if result is not None and name not in self._callers.values:
                results[name] = result.value
            if flag is not None and name.startswith("_"):
                flags[name] = flag
        return results, flags

    def _alive(self, pieces: dict[str, Definition]) -> dict[str, Definition]:
        """Pieces that are named somewhere, other than to ask whether a value is of that class."""
        found: dict[str, Definition] = {}
        pending = [name for name in self._wanted if name in pieces]
        while pending:
            name = pending.pop()
            if name not in found:
                found[name] = pieces[name]
                said = _callers(pieces[name].source)
                pending += [
                    need
                    for need in pieces[name].needs
                    if need in pieces and (need in _named(said) or not pieces[need].is_class)
                ]
        return {name: found[name] for name in pieces if name in found}

    def run(self) -> dict[str, Definition]:
        return {name: self._cut(piece) for name, piece in self._pieces.items()}

    def _cut(self, piece: Definition) -> Definition:
        node = _tree(piece.source)
        derived = self._derived.get(piece.name, ())
        free = never_given(piece.name, node, self._callers, derived)
        function = constructor(node)
        known = defaults(function) if function is not None else {}
        fixed = self._fixed.get(piece.name, {})
        constant: dict[str, object] = {}
        unread: set[str] = set()
        methods: set[str] = set()
        if isinstance(node, ast.ClassDef):
            constant = self._constant_attributes(node)
            own = _callers(piece.source).words
            if self._unseen and ast.unparse(node).startswith(f"class {node.name}(nn."):
                unread = {name for name in constant if self._callers.words[name] == own[name]}
            methods = self._unnamed(node)
        cut = Cut(
            {**{name: known[name].value for name in free}, **fixed},
            methods,
            constant,
            unread,
            self._gone,
            self._there,
            self._results,
            self._flags,
        )

        def known_of(name: str) -> Known | None:
            """Of itself, the piece loses arguments together with their parameters."""
            found = self._defaults(base_of(node) if name == "super" else name)
            if found is None or name != piece.name:
                return found
            return found._replace(fixed=(*found.fixed, *free))

        source = trimmed(piece.source, cut, known_of) if self._applies(piece, cut) else ""
        return _with_source(piece, source or piece.source)

    def _applies(self, piece: Definition, cut: Cut) -> bool:
        said = _callers(piece.source)
        return bool(
            cut.parameters
            or cut.methods
            or cut.attributes
            or said.asked & self._gone
            or USES in said.calls
            or not self._results.keys().isdisjoint(said.calls)
            or not self._flags.keys().isdisjoint(piece.needs)
            or any(
                _says_default(call, known)
                for name, calls in said.calls.items()
                if (known := self._defaults(name)) is not None
                for call in calls
            )
        )

    def _defaults(self, name: str) -> Known | None:
        piece = self._pieces.get(name)
        node = _tree(piece.source) if piece else None
        function = constructor(node) if node is not None else None
        if function is None:
            return None
        values = {key: default.value for key, default in defaults(function).items()}
        places = positions(function, bound=function is not node)
        return Known(places, values, tuple(self._fixed.get(name, ())))

    def _constant_attributes(self, node: ast.ClassDef) -> dict[str, object]:
        """Attributes of an object that its constructor, or that of a base, sets to a constant, and
        nobody else.
        """
        made = constructor(node)
        own = [ast.unparse(base) for base in node.bases]
        if not self._sealed or not all(b in self._classes or b.startswith(_KNOWN) for b in own):
            return {}
        found: dict[str, object] = {}
        for base in own:
            if base in self._classes and (made is None or calls_of_base(made)):
                found |= self._constant_attributes(self._classes[base])
        if made is None:
            return found
        found |= _constants_set(made)
        bases = [f"mindspore.{base}" for base in own if base not in self._classes]
        return {name: found[name] for name in self._set_once(found, bases)}

    def _set_once(self, names: Iterable[str], bases: list[str]) -> list[str]:
        """Attributes that one statement of the program sets, and no class of MindSpore has."""
        listed = MindSporeNames(VERSIONS[-1])
        places = (*bases, "mindspore.nn.Cell")
        return [
            name
            for name in names
            if self._callers.stored[name] == 1
            and not any(listed.lists(f"{base}.{name}") for base in places)
        ]

    def _unnamed(self, node: ast.ClassDef) -> set[str]:
        """Methods that nobody names, and that no base of MindSpore's calls."""
        if self._outside.is_open:
            return set()
        bases = set().union(*map(self._library_bases, self._descendants(node)))
        cells = bases & {"nn.Cell"} if self._unseen else set()
        if any(base not in _CALLED_BY_BASE for base in bases - cells):
            return set()
        kept = {name for base in bases - cells for name in _CALLED_BY_BASE[base]}
        found: set[str] = set()
        for method in node.body:
            if isinstance(method, ast.Assign) and isinstance(method.targets[0], ast.Name):
                name = method.targets[0].id
                if isinstance(method.value, ast.Constant) and not (
                    self._callers.words[name] or self._callers.stored[name] > 1
                ):
                    found.add(name)
            if isinstance(method, ast.FunctionDef) and not method.name.startswith("__"):
                own = in_piece(method).words[method.name]
                called = method.name in kept or (cells and _may_be_called_by_cell(method.name))
                named = self._callers.words[method.name] != own
                if not (called or named or self._callers.stored[method.name]):
                    found.add(method.name)
        return found

    def _descendants(self, node: ast.ClassDef) -> list[ast.ClassDef]:
        """The class and those that derive from it."""
        found = [node]
        for one in found:  # grows on the way
            found += [other for other in self._derived.get(one.name, ()) if other not in found]
        return found

    def _library_bases(self, node: ast.ClassDef) -> set[str]:
        found: set[str] = set()
        for base in node.bases:
            name = ast.unparse(base)
            inner = self._classes.get(name)
            found |= {name} if inner is None else self._library_bases(inner)
        return found


def _may_be_called_by_cell(name: str) -> bool:
    """MindSpore's own methods of this name call it; of its private ones no list is complete."""
    known = MindSporeNames(VERSIONS[-1])
    return (
        name in ("construct", "bprop") or name[0] == "_" or known.lists(f"mindspore.nn.Cell.{name}")
    )


def _constants_set(constructor: ast.FunctionDef) -> dict[str, object]:
    """`self.scale = 2` in a constructor."""
    found: dict[str, object] = {}
    for line in constructor.body:
        if isinstance(line, ast.Assign) and isinstance(line.value, ast.Constant):
            target = line.targets[0]
            if len(line.targets) == 1 and _is_own(target):
                assert isinstance(target, ast.Attribute)
                found[target.attr] = line.value.value
    return found


def _named(said: Callers) -> set[str]:
    return {*said.values, *said.calls, *said.bases}


def _says_default(call: ast.Call, known: Known) -> bool:
    """Whether a call ends with what the parameter is anyway, or says so by its name."""
    places, values, fixed = known
    if fixed:
        return True
    given = [(keyword.arg or "", keyword.value) for keyword in call.keywords]
    if call.args and len(call.args) <= len(places):
        given.append((places[len(call.args) - 1], call.args[-1]))
    return any(
        isinstance(value, ast.Constant)
        and name in values
        and type(values[name]) is type(value.value)
        and values[name] == value.value
        for name, value in given
    )


def _is_own(target: ast.expr) -> bool:
    return (
        isinstance(target, ast.Attribute)
        and isinstance(target.value, ast.Name)
        and target.value.id == "self"
    )


def _with_source(piece: Definition, source: str) -> Definition:
    if source == piece.source:
        return piece
    words = {node.id for node in ast.walk(_tree(source)) if isinstance(node, ast.Name)}
    bound = {line: line.rpartition(" ")[2].partition(".")[0] for line in piece.imports}
    return replace(
        piece,
        source=source,
        imports=tuple(line for line, name in bound.items() if name in words),
        needs=tuple(name for name in piece.needs if name in words),
        first=tuple(name for name in piece.first if name in words),
    )
