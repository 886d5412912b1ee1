"""Where the memory of a function's values comes from: parameters, globals, attributes, containers
and expressions that make something new.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from migrate.flow.events import Definition
from migrate.flow.memory import Memory, Ref, Refs
from migrate.resolve.values import ListOf, TupleOf, is_tensor, options_of

if TYPE_CHECKING:
    from migrate.flow.function import FunctionFlow


_MOST_FIELDS = 250  # of one function


class Memories:
    """One Memory for each parameter, global, attribute and expression that makes something."""

    def __init__(self, flow: FunctionFlow) -> None:
        self._flow = flow
        self._made: dict[ast.AST, Memory] = {}
        self._parameters: dict[str, Memory] = {}
        self._globals: dict[str, Memory] = {}
        self._fields: dict[tuple[Memory, str], Memory] = {}

    def parameter(self, definition: Definition) -> Refs:
        name = definition.name
        if name not in self._parameters:
            self._parameters[name] = Memory("parameter", name, definition.node, outside=True)
        return frozenset({Ref(self._parameters[name])})

    def fresh(self, node: ast.AST) -> Refs:
        return frozenset({Ref(self._memory(node, "fresh"))})

    def held_by_callee(self, node: ast.AST, function: ast.AST) -> Memory:
        """What a function gives that an attribute or a global goes on holding."""
        key = (self._memory(node, "fresh"), "result")
        if key not in self._fields:
            name = f"what {ast.unparse(function)} gives"
            self._fields[key] = Memory("attribute", name, node, outside=True)
        return self._fields[key]

    def _memory(self, node: ast.AST, source: str) -> Memory:
        made = self._made.get(node)
        if made is None:
            made = self._made[node] = Memory(source, "", node)  # type: ignore[arg-type]
        return made

    def made_in(self, statement: ast.AST) -> set[Memory]:
        """The memory that expressions of a statement have made so far."""
        statement_of = self._flow.cfg.statement_of
        return {memory for node, memory in self._made.items() if statement_of(node) is statement}

    def attributes(self) -> list[Memory]:
        """Every attribute that the function reads or writes."""
        return list(self._fields.values())

    def outer(self) -> list[Memory]:
        """Parameters and globals, which others hold too."""
        return [*self._parameters.values(), *self._globals.values()]

    def field(self, owner: Refs, path: str, attr: str) -> list[Memory]:
        """The attribute of each owner. Objects that hold each other (`a.info = b; b.info = a`, in
        a loop) have no end of them: beyond a limit an object stands for all that it holds.
        """
        found = []
        for ref in owner:
            key = (ref.memory, attr)
            if key not in self._fields:
                if len(self._fields) >= _MOST_FIELDS:
                    found.append(ref.memory)
                    continue
                outside = ref.memory.source in ("parameter", "global", "attribute")
                self._fields[key] = Memory("attribute", path, parent=ref.memory, outside=outside)
            found.append(self._fields[key])
        return found

    def elements(self, refs: Refs, node: ast.expr, key: str = "") -> Refs:
        """What iterating or indexing gives: the contents of containers, views of tensors, and of
        anything else that is passed in the items that it holds.
        """
        tensor = is_tensor(self._flow.symbols.type(node))
        found: set[Ref] = set()
        for ref in refs:
            memory = ref.memory
            if memory.source == "container":
                found |= {held.through(ref.relation) for held in memory.contents}
            elif (
                tensor
                or ref.relation != "same"
                or memory.source == "fresh"
                or not (self._holds_items(node, key))
            ):
                found.add(ref.through("view"))
                found |= memory.contents
            else:
                path = f"{ast.unparse(node)}[{key}]" if key else f"an item of {ast.unparse(node)}"
                for item in self.field(frozenset({ref}), path, f"[{key}]"):
                    found |= {Ref(item), *item.contents}
        return frozenset(found)

    def _holds_items(self, node: ast.expr, key: str) -> bool:
        """A list or a dict, as far as its type or its key says; a tensor has no named items."""
        if key.startswith(("'", '"')):
            return True
        kinds = options_of(self._flow.symbols.type(node))
        return any(isinstance(kind, (ListOf, TupleOf)) for kind in kinds) or not key

    def _held(self, node: ast.AST, contents: Refs) -> Refs:
        memory = self._memory(node, "container")
        memory.contents |= {ref.whole() for ref in contents}
        return frozenset({Ref(memory)})
