"""Is this function compiled? Reached from a forward, from a training step or from a jit call,
through calls, methods and attributes, across the files of the project.

The answer is yes where names and imports lead there, unknown where only the name of a method does
or where a function that trains calls it (what becomes part of the step is decided later).
"""

from __future__ import annotations

from collections.abc import Iterator

from migrate.flow.answer import Answer, Verdict
from migrate.flow.compiled_nodes import compiled_code
from migrate.flow.outlines import Function, Outline, outline
from migrate.project import Project, ReadProblem, SourceFile, shared_tree
from migrate.resolve import FileResolution
from migrate.resolve.modules import Modules

_ENTRANCES = ("forward", "__call__")
_PLAIN_BASES = frozenset(
    "object Exception ABC Enum IntEnum Protocol NamedTuple TypedDict dict list str Dataset".split()  # noqa: SIM905
)
_LOOKED_UP = frozenset({"getattr", "vars", "eval", "globals"})
_UNASKED = frozenset({"?"})
DECORATED = "decorated"  # a reason of `reached`: a decorator of the program wraps the function
_FOLLOWED = 6  # re-exports of a name


Place = tuple[str, str]  # path of the file, dotted name in it


class CompiledIndex:
    """Answers for all files of a project; built when the first question is asked."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._outlines: dict[str, Outline] = {}
        self._methods: dict[str, list[Place]] = {}
        self._derived: dict[str, list[Place]] = {}  # last name of a class -> classes that name it
        self._answers: dict[Place, Verdict] | None = None
        self._by_file: dict[str, dict[str, Verdict]] = {}
        self._words: frozenset[str] | None = _UNASKED

    def of(self, source: SourceFile, qualified: str) -> Verdict:
        """Of a function or method by its dotted name: `Net.forward`."""
        return self.in_file(source).get(qualified, Verdict(Answer.NO, "nothing compiled calls it"))

    def in_file(self, source: SourceFile) -> dict[str, Verdict]:
        """The functions of a file that are compiled, or may be, by their dotted names."""
        if self._answers is None:
            self._answers = self._reach()
            for (path, name), verdict in self._answers.items():
                self._by_file.setdefault(path, {})[name] = verdict
        return self._by_file.get(str(source.path), {})

    def reached(self, source: SourceFile, root: str) -> Iterator[tuple[str, str]]:
        """(dotted name, reason) of all functions that a function surely runs; the reason says why
        one in another file cannot be compiled, and is empty for those of the same file.
        """
        self.in_file(source)
        start = str(source.path), root
        pending: list[Place] = [start] if root in self._functions(start[0]) else []
        if not pending:
            pending = list(self._own_methods(start[0], root.rpartition(".")[0], "forward"))
        seen: set[Place] = set()
        while pending:
            place = pending.pop()
            if place in seen:
                continue
            seen.add(place)
            if place[0] == start[0]:
                yield place[1], ""
            elif reason := self._python_only(place):
                yield place[1], reason
            pending += self._called(place)

    def _python_only(self, place: Place) -> str:
        function = self._functions(place[0])[place[1]]
        own = [name for name in function.decorators if self._definition(place[0], name)]
        if own and not function.python_only:
            return DECORATED
        return function.python_only

    def words_read(self) -> frozenset[str] | None:
        """Names and attributes that layers and jitted functions mention, and what they may call;
        None where one looks attributes up by a computed name. What a training step reads outside
        of its layers is looked at when it runs.
        """
        if self._words is _UNASKED:
            self._words = self._mentioned()
        return self._words

    def _mentioned(self) -> frozenset[str] | None:
        for source in self._project.files[:1]:
            self.in_file(source)
        found: set[str] = set()
        pending, seen = list(self._roots(Answer.YES)), set[Place]()
        pending += self._methods.get("__call__", ())  # objects that a layer may call
        while pending:
            place = pending.pop()
            if place in seen:
                continue
            seen.add(place)
            function = self._functions(place[0])[place[1]]
            if function.names & _LOOKED_UP:
                return None
            found |= function.names | function.attributes
            pending += [*self._called(place), *self._maybe_called(place)]
        return frozenset(found)

    def _functions(self, path: str) -> dict[str, Function]:
        return self._outlines[path].functions if path in self._outlines else {}

    # Building -----------------------------------------------------------------------------------

    def _reach(self) -> dict[Place, Verdict]:
        for source in self._project.files:
            try:
                self._outlines[str(source.path)] = outline(source, shared_tree(source))
            except ReadProblem:
                continue
        for path, file in self._outlines.items():
            for name in file.functions:
                if "." in name:
                    self._methods.setdefault(name.rpartition(".")[2], []).append((path, name))
            for name, bases in file.classes.items():
                for base in dict.fromkeys(base.rpartition(".")[2] for base in bases):
                    self._derived.setdefault(base, []).append((path, name))
        answers: dict[Place, Verdict] = {}
        for answer in (Answer.YES, Answer.UNKNOWN):
            pending = [place for place in self._roots(answer) if place not in answers]
            if answer is Answer.UNKNOWN:
                for place in list(answers):
                    pending += self._maybe_called(place)
            while pending:
                place = pending.pop()
                if place in answers:
                    continue
                answers[place] = Verdict(answer, self._reason(place, answer))
                pending += self._called(place)
                if answer is Answer.UNKNOWN:
                    pending += self._maybe_called(place)
        return answers

    def _roots(self, answer: Answer) -> Iterator[Place]:
        for path, file in self._outlines.items():
            for name, function in file.functions.items():
                owner, _, last = name.rpartition(".")
                if answer is Answer.UNKNOWN:
                    if function.trains:
                        yield from self._called((path, name))
                elif (
                    function.jitted
                    or name in file.jitted
                    or (last in _ENTRANCES and owner and self._is_module(path, owner))
                ):
                    yield path, name

    def _reason(self, place: Place, answer: Answer) -> str:
        if answer is Answer.YES:
            return f"{place[1]} is reached from a forward or a jit call"
        return f"{place[1]} may be reached from a forward or a training step"

    def mixed_into(self, source: SourceFile, name: str) -> str:
        """A network of another file that has this class among its bases, or an empty text."""
        self.in_file(source)
        own = str(source.path), name
        return next(
            (
                derived
                for path, derived in self._derived.get(name.rpartition(".")[2], ())
                if path != own[0]
                and any(
                    self._definition(path, b) == own for b in self._outlines[path].classes[derived]
                )
                and self._is_module(path, derived)
            ),
            "",
        )

    def _is_module(self, path: str, name: str, depth: int = 0) -> bool:
        """A class with a base that is neither Python's own nor a plain class of the project."""
        bases = self._outlines[path].classes.get(name, [])
        for base in bases if depth < _FOLLOWED else ():
            last = base.rpartition(".")[2]
            found = self._definition(path, base)
            if found is not None and found[1] in self._outlines[found[0]].classes:
                if self._is_module(*found, depth + 1):
                    return True
            elif last not in _PLAIN_BASES:
                return True
        return False

    # Edges --------------------------------------------------------------------------------------

    def _called(self, place: Place) -> Iterator[Place]:
        """Functions that names, imports and self lead to."""
        path, name = place
        file = self._outlines[path]
        function = file.functions[name]
        for used in function.names:
            yield from self._function_at(self._definition(path, used))
        for owner, member in function.members:
            if owner == "self":
                yield from self._own_methods(path, name.rpartition(".")[0], member)
            else:
                yield from self._function_at(self._definition(path, f"{owner}.{member}"))

    def _maybe_called(self, place: Place) -> Iterator[Place]:
        """Methods of plain classes in reach, by their names alone."""
        path = place[0]
        for attribute in self._outlines[path].functions[place[1]].attributes:
            for found in self._methods.get(attribute, ()):
                near = found[0] == path or self._imports(path, found[0])
                if near and found[1].rpartition(".")[2] not in _ENTRANCES:
                    yield found

    def _imports(self, path: str, other: str) -> bool:
        file = self._outlines[path]
        return any(
            found is not None and str(found.path) == other
            for module, name in file.imports.values()
            for found in (
                self._project.find(module, file.source) if module else None,
                self._project.find(f"{module}.{name}", file.source) if name else None,
            )
        )

    def _function_at(self, place: Place | None) -> Iterator[Place]:
        if place is None:
            return
        path, name = place
        if name in self._outlines[path].functions:
            yield place

    def _own_methods(self, path: str, cls: str, member: str) -> Iterator[Place]:
        """The method in the class, its bases and the classes that derive from it."""
        pending, seen = [(path, cls)], set()
        while pending:
            place = pending.pop()
            if place in seen:
                continue
            seen.add(place)
            yield from self._function_at((place[0], f"{place[1]}.{member}"))
            for base in self._outlines[place[0]].classes.get(place[1], ()):
                found = self._definition(place[0], base)
                if found is not None:
                    pending.append(found)
        for other, name in self._derived.get(cls.rpartition(".")[2], ()):
            yield from self._function_at((other, f"{name}.{member}"))

    def _definition(self, path: str, name: str, depth: int = 0) -> Place | None:
        """The function or class of the project that a dotted name of a file stands for."""
        file = self._outlines[path]
        if name in file.functions or name in file.classes:
            return path, name
        head, _, rest = name.partition(".")
        if head not in file.imports or depth > _FOLLOWED:
            return None
        module, original = file.imports[head]
        whole = f"{module}.{original}" if module and original else module or original
        source = self._project.find(whole, file.source)
        if source is not None and rest and str(source.path) in self._outlines:
            return self._definition(str(source.path), rest, depth + 1)
        source = self._project.find(module, file.source) if original else None
        if source is None or str(source.path) not in self._outlines:
            return None
        return self._definition(str(source.path), f"{original}.{rest}".strip("."), depth + 1)


def compiled_in(resolution: FileResolution, modules: Modules) -> dict[str, Verdict]:
    """The functions of a resolved file that are compiled, or may be, by their dotted names."""
    if resolution.scope is None:
        return {}
    found = dict(index_of(modules).in_file(resolution.source))
    for name, _, _ in compiled_code(resolution.scope, resolution.types):
        found[name] = Verdict(Answer.YES, f"{name} is reached from a forward of its file")
    return found


def index_of(modules: Modules) -> CompiledIndex:
    """The index of the project, built once."""
    if modules.compiled is None:
        modules.compiled = CompiledIndex(modules.project)
    assert isinstance(modules.compiled, CompiledIndex)
    return modules.compiled
