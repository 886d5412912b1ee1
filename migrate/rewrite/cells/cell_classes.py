"""What Cells need beyond torch's Modules: parameters named by their place, super() that graphs
resolve, lambdas on lines of their own, layers that would change their input.
"""

from __future__ import annotations

import ast

import libcst as cst

from migrate.flow.compiled import index_of
from migrate.pipeline import becomes, declare
from migrate.pipeline.refusal import Refusal
from migrate.resolve.members import is_module_value
from migrate.resolve.values import Instance, ProjectClass, ProjectFunction, options_of
from migrate.rewrite.calls.call_sites import CallSites
from migrate.rewrite.cells.held_functions import holds_function
from migrate.rewrite.cells.inherited_properties import with_own_properties
from migrate.rewrite.cells.train_overrides import decorated, overridden_train
from migrate.rewrite.effects import Change, Effects
from migrate.rewrite.node_pass import FileRewrite, NodePass
from migrate.rewrite.tensors.in_place import is_held_item, shares_memory
from migrate.rewrite.tensors.mutated_params import (
    MutatedArgument,
    is_first_use,
    is_read_again,
    mutated_arguments,
)
from migrate.rewrite.tensors.mutation_scope import MutationScope
from migrate.syntax.access import attribute_of, name_of
from migrate.syntax.ast_index import all_nodes, nodes_of
from migrate.syntax.nodes import expression

_GROWING = frozenset({"add_module", "append", "extend", "insert", "register_module", "update"})
_CONTAINERS = frozenset({"torch.nn.ModuleDict", "torch.nn.ModuleList", "torch.nn.Sequential"})


def _grows_arguments(function: object) -> bool:
    return isinstance(function, ProjectFunction) and any(
        node.__class__ is ast.Attribute
        and node.attr in _GROWING
        and isinstance(node.value, ast.Name)
        for node in all_nodes(function.node)
    )


@declare(
    phase="rewrite",
    unit="node",
    needs=["types", "compiled", "effects"],
    after={
        "library_calls": "it looks at the arguments as they are written, without parentheses",
        "markers": "what it adds to a class stands below the comments",
        "containers": "it sees calls with their arguments as they are written",
    },
    examples=[
        becomes(
            """
            class Net(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.parts = nn.ModuleList()
                    self.parts.append(nn.ReLU())
            """,
            """
            class Net(nn.Cell):
                def __init__(self):
                    super().__init__()
                    self.parts = nn.CellList()
                    self.parts.append(nn.ReLU())
                    helpers.name_parameters(self)
            """,
        ),
        becomes(
            """
            class Net(nn.Module):
                def train(self, mode=True):
                    return super().train(mode and not self.frozen)
            """,
            """
            @helpers.spreads_set_train
            class Net(nn.Cell):
                def set_train(self, mode=True):
                    return super().set_train(mode=mode and not self.frozen)
            """,
        ),
    ],
)
class CellClasses(NodePass):
    """Rewrites the classes that become Cells."""

    def __init__(self, file: FileRewrite) -> None:
        super().__init__(file)
        self._effects = file.shared(Effects)
        self._sites = file.shared(CallSites)
        self._scope = file.shared(MutationScope)
        self._hoisted_names: set[str] = set()

    def leave_ClassDef(self, original: cst.ClassDef, updated: cst.ClassDef) -> cst.ClassDef:
        cls = self.partner(original)
        assert isinstance(cls, ast.ClassDef)
        project_class = self._project_class(cls)
        updated = with_own_properties(project_class, updated)
        if overridden_train(project_class) is not None:
            updated = decorated(updated, self.spelling.name("helpers.spreads_set_train"))
        if cls in self.context.module_classes:
            return self._with_named_parameters(updated) if self._grows_containers(cls) else updated
        if project_class is not None and "forward" in project_class.body:
            self._report_mixed_in(project_class)
        return updated

    def _report_mixed_in(self, cls: ProjectClass) -> None:
        """`class Net(Scaled, nn.Module)` in another file: what runs is the forward of Scaled."""
        index = index_of(self.context.modules)
        network = index.mixed_into(self.context.resolution.source, cls.qualified)
        if network:
            self.context.flag(
                cls.node,
                "MS310",
                f"{cls.qualified} is a base of {network}, a network of another file, and its "
                "forward keeps its name: MindSpore would never call it",
                "derive it from nn.Module, or move it into the file of the network",
            )

    def _project_class(self, node: ast.ClassDef) -> ProjectClass | None:
        scope = self.context.resolution.scope
        classes = scope.classes if scope is not None else []
        return next((cls for cls in classes if cls.node is node), None)

    # Names of parameters ------------------------------------------------------------------------

    def _grows_containers(self, cls: ast.ClassDef) -> bool:
        """A container that is an attribute already when a layer is put into it: MindSpore then
        names the parameters without the container's name, twice the same for two containers.
        """
        return any(
            self._is_own_container(node.func.value)
            if attribute_of(node.func) in _GROWING
            # `prepend(self.ups, block)`: what a function of the program does with it.
            else _grows_arguments(self.context.type(node.func))
            and any(map(self._is_own_container, node.args))
            for node in nodes_of(cls, ast.Call)
        )

    def _is_own_container(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Attribute) and any(
            isinstance(option, Instance) and option.cls in _CONTAINERS
            for option in options_of(self.context.type(node))
        )

    def _with_named_parameters(self, node: cst.ClassDef) -> cst.ClassDef:
        body = list(node.body.body)
        for index, item in enumerate(body):
            if isinstance(item, cst.FunctionDef) and item.name.value == "__init__":
                call = f"{self.spelling.name('helpers.name_parameters')}(self)\n"
                line = cst.parse_statement(call)
                assert isinstance(item.body, cst.IndentedBlock)
                inner = item.body.with_changes(body=[*item.body.body, line])
                body[index] = item.with_changes(body=inner)
        return node.with_changes(body=node.body.with_changes(body=body))

    # Calls --------------------------------------------------------------------------------------

    def leave_Call(self, original: cst.Call, updated: cst.BaseExpression) -> cst.BaseExpression:
        partner, new = self.partner(original), updated
        if not isinstance(partner, ast.Call):
            return new
        if isinstance(new, cst.Call) and self._is_bare_super(partner):
            return self._full_super(new)
        if isinstance(new, cst.Call) and self._holds_function(partner):
            new = new.with_changes(func=expression(self.spelling.name("helpers.compiled_partial")))
        if isinstance(new, cst.Call) and any(isinstance(a.value, cst.Lambda) for a in new.args):
            new = self._without_lambdas(partner, new)
        self._note_changed_arguments(partner, new)
        if isinstance(new, cst.Call) and self._pops_inside(partner):
            name = self._name_for_lambda("last")
            self._effects.lines.append((name, new))
            return cst.Name(name)
        return new

    def _holds_function(self, call: ast.Call) -> bool:
        in_cell = any(cls in self.context.module_classes for cls in self.file.position.classes)
        return holds_function(call, self.context, in_cell=in_cell) and not (
            self.function is not None and self.is_compiled(self.function)
        )

    def _pops_inside(self, call: ast.Call) -> bool:
        """`torch.cat([x, skips.pop()])`: a graph takes pop() for a pair, if not on its own line."""
        if (
            not isinstance(call.func, ast.Attribute)
            or call.func.attr != "pop"
            or not isinstance(call.func.value, ast.Name)
            or call.args
            or not self._effects.in_line
            or self.file.position.nested
            or not self.is_compiled(self.function)
        ):
            return False
        for statement in all_nodes(self.function or ast.Module([], [])):
            if isinstance(statement, (ast.Assign, ast.AugAssign, ast.Return, ast.Expr)):
                inside = list(all_nodes(statement))
                if call in inside:
                    return statement.value is not call and not any(
                        isinstance(node, (ast.IfExp, ast.BoolOp)) for node in inside
                    )
        return False

    def _is_bare_super(self, call: ast.Call) -> bool:
        """In compiled code; elsewhere Python itself runs it."""
        return name_of(call.func) == "super" and not call.args and self.is_compiled(self.function)

    def _full_super(self, call: cst.Call) -> cst.Call:
        """A graph takes super() for the parent of the object's own class, and never ends."""
        comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
        owner = getattr(self.function, "args", None)
        itself = owner.args[0].arg if owner is not None and owner.args else "self"
        names = [
            cst.Arg(cst.Name(self.file.position.classes[-1].name), comma=comma),
            cst.Arg(cst.Name(itself)),
        ]
        return call.with_changes(args=names)

    def _note_changed_arguments(self, call: ast.Call, new: cst.BaseExpression) -> None:
        """`y = self.relu(x)` and `scale(x, 2)`, where the layer or the function changes x."""
        if not isinstance(new, cst.Call) or self.context.usage(call.func) is not None:
            return
        for argument in mutated_arguments(call, self.context):
            given = argument.node
            alone = call in self._sites.statements
            kinds = (ast.Name, ast.Attribute, ast.Subscript) if alone else ast.Name
            if argument.returned and isinstance(given, kinds):
                pairs = zip(new.args, _given(call), strict=False)
                place = next((part for part, old in pairs if old is given), None)
                if place is not None:
                    self._effects.in_place[new] = Change(place.value, given)
            elif isinstance(given, ast.Name) or is_held_item(given, self.context):
                self._change_before(call, argument)
            elif shares_memory(given, self.context) or _outlives(argument):
                self._flag_lost_change(argument)

    def _change_before(self, call: ast.Call, argument: MutatedArgument) -> None:
        """`residual = self.block(x)`, x read again: `x = ops.relu(x)` on a line before."""
        given = argument.node
        if not is_read_again(call, given, self.context):
            return
        if (
            not argument.can_repeat
            or self.file.position.nested
            or not self._effects.in_line
            or not is_first_use(call, given, self.context)
        ):
            self._flag_lost_change(argument)
            return
        function = expression(self.spelling.name(f"mindspore.ops.{argument.how}"))
        self.context.edited_lines.add(call.lineno)
        name = ast.unparse(given)
        change = cst.Call(func=function, args=[cst.Arg(expression(name))])
        self._effects.lines.append((name, change))

    def _flag_lost_change(self, argument: MutatedArgument) -> None:
        text = ast.unparse(argument.node)
        may = "may change" if argument.verdict.unknown else "changes"
        reason = f"{may} {text} in place in torch, and {text} is read again"
        why = argument.verdict.reason
        if "input" in why:  # a layer
            reason = f"{reason} under this name or another: {why}"
            step = f"where the old value is meant, store {text}.clone() in the torch program"
        else:
            step = f"let the function return the changed tensor, and write {text} = ..."
        self.flag(argument.node, Refusal(reason, step, "MS403"))

    def leave_Arg(self, original: cst.Arg, updated: cst.Arg) -> cst.Arg:
        """`conv(relu_(x))`, with x read again: x gets its new value on a line before."""
        node = updated
        change = self._effects.in_place.get(node.value)
        if change is None or not isinstance(change.place, ast.Name):
            return node
        place = change.place
        self._scope.flag_aliases(place)
        if not self._scope.is_read_later(place):
            return node
        if self.file.position.nested or not self._effects.in_line:
            reason = f"changes {place.id} in place, which is read again"
            step = f"write {place.id} = ... on a line before"
            self.flag(place, Refusal(reason, step, "MS403"))
            return node
        del self._effects.in_place[node.value]
        self._effects.lines.append((place.id, node.value))
        return node.with_changes(value=cst.Name(place.id))

    # Lambdas ------------------------------------------------------------------------------------

    def _without_lambdas(self, partner: ast.Call, node: cst.Call) -> cst.Call:
        """A layer that is given a lambda: graphs parse those that stand on lines of their own."""
        if (
            not self.file.position.classes
            or self.file.position.nested
            or not is_module_value(self.context.type(partner))
        ):
            return node
        arguments = []
        for argument in node.args:
            if isinstance(argument.value, cst.Lambda):
                wish = argument.keyword.value if argument.keyword else "function"
                name = self._name_for_lambda(wish)
                self._effects.lines.append((name, argument.value))
                argument = argument.with_changes(value=cst.Name(name))
            arguments.append(argument)
        return node.with_changes(args=arguments)

    def _name_for_lambda(self, wish: str) -> str:
        """A name that the function does not use yet."""
        around = self.function
        taken = {n.id for n in all_nodes(around) if isinstance(n, ast.Name)} if around else set()
        taken |= {n.arg for n in all_nodes(around) if isinstance(n, ast.arg)} if around else set()
        name = wish
        while name in taken or name in self._hoisted_names:
            name += "_"
        self._hoisted_names.add(name)
        return name


def _given(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def _outlives(argument: MutatedArgument) -> bool:
    """`reduce(self.total)`: the attribute is there after the call, for whoever reads it."""
    return isinstance(argument.node, ast.Attribute) and argument.verdict.yes
