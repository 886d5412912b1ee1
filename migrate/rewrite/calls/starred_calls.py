"""`conv(*args, **kwargs)`: calls whose arguments are only known when the program runs."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import libcst as cst

from migrate.resolve import Usage
from migrate.rewrite.calls.call import Call, Refusal, Slot
from migrate.rewrite.calls.emit import write_call
from migrate.rewrite.names.library_names import LibraryNames
from migrate.rewrite.node_pass import FileAccess, FileRewrite
from migrate.rewrite.rules import all_rules
from migrate.syntax.nodes import atomic, expression
from migrate.table import Entry
from migrate.table.entry import Overload
from migrate.table.signature import Signature


class StarredCalls(FileAccess):
    """Writes such calls."""

    def __init__(self, file: FileRewrite) -> None:
        super().__init__(file)
        self._names = file.shared(LibraryNames)
        self._rules = {name: rule.change for name, rule in all_rules().items()}

    def form(
        self, usage: Usage, entry: Entry, updated: cst.Call, receiver: cst.BaseExpression | None
    ) -> cst.BaseExpression:
        """*args or **kwargs: call the form that has torch's signature, which sorts them out at
        run time.
        """
        filled = self._starred_varargs(entry, updated, receiver)
        if filled is not None:
            return filled
        if receiver is not None:
            return self._starred_method(entry, updated, receiver)
        return updated.with_changes(func=expression(self._names.value(usage, entry)))

    def _starred_varargs(
        self, entry: Entry, updated: cst.Call, receiver: cst.BaseExpression | None
    ) -> cst.BaseExpression | None:
        """x.view(*shape): the stars fill torch's varargs, and nothing else can be meant."""
        if any(argument.star == "**" for argument in updated.args):
            return None
        given = {a.keyword.value: a for a in updated.args if a.keyword is not None}
        for overload in entry.overloads:
            written = receiver is not None or overload.emit or _is_native(entry, overload)
            if not written or not _takes_varargs(overload.signature, given):
                continue
            varargs = [
                Slot("", argument.value, source=argument, positional=True)
                for argument in updated.args
                if argument.keyword is None
            ]
            slots = {name: Slot(name, a.value, source=a) for name, a in given.items()}
            call = Call(entry, overload, receiver, slots=slots, varargs=varargs, node=updated)
            call.target, call.emit = overload.mindspore, overload.emit
            call.helper = "" if overload.mindspore else overload.helper
            return write_call(call, self.spelling, self._rules)
        return None

    def _starred_method(
        self, entry: Entry, updated: cst.Call, receiver: cst.BaseExpression
    ) -> cst.BaseExpression:
        if entry.main.helper:
            arguments = [cst.Arg(receiver), *updated.args]
            return updated.with_changes(
                func=expression(self.spelling.name(f"helpers.{entry.main.helper}")), args=arguments
            )
        main = entry.main
        if len(entry.overloads) == 1 and main.plain and not main.drop:
            # Nothing but the name changes; what MindSpore does not take is an error at run time.
            name = cst.Name(main.mindspore.rpartition(".")[2])
            return updated.with_changes(func=cst.Attribute(value=atomic(receiver), attr=name))
        raise Refusal(
            "*args or **kwargs decide how it is called", "spell the arguments out", "MS311"
        )


def _takes_varargs(signature: Signature | None, given: Collection[str]) -> bool:
    """Whether positional arguments can only be the varargs, and the keywords fill the rest."""
    if signature is None or signature.varargs is None or signature.positional:
        return False
    required = {p.name for p in signature.parameters if p.required and p.kind == "keyword"}
    return required <= set(given) <= set(signature.names)


def _is_native(entry: Entry, overload: Overload) -> bool:
    """A function, or a class that MindSpore has with nothing but another name: Sequential."""
    return entry.kind == "function" or replace(overload, helper="").plain
