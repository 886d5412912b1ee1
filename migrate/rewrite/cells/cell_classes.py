"""What Cells need beyond torch's Modules: parameters named by their place, super() that graphs
resolve, lambdas on lines of their own, layers that would change their input.
"""

from __future__ import annotations

import ast

import libcst as cst

from migrate.resolve.values import Instance, ProjectClass, ProjectFunction, options_of
from migrate.rewrite.calls.call import Refusal
from migrate.rewrite.cells.held_functions import holds_function
from migrate.rewrite.cells.inherited_properties import with_own_properties
from migrate.rewrite.cells.inplace_layers import find_inplace_layers
from migrate.rewrite.context import Context, is_module_value
from migrate.rewrite.tensors.mutated_params import changed_arguments, rebinds
from migrate.rewrite.tensors.stateful_attrs import runs_in_forward
from migrate.rewrite.tensors.writes import WriteRewriter
from migrate.syntax.ast_index import all_nodes, nodes_of
from migrate.syntax.collapse_lines import on_one_line
from migrate.syntax.node_pairs import JoinError
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


class CellRewriter(WriteRewriter):
    """Rewrites the classes that become Cells."""

    _classes: tuple[ast.ClassDef, ...] = ()
    _inplace: set[tuple[int, str]] | None = None

    def __init__(self, context: Context, tree: ast.Module) -> None:
        super().__init__(context, tree)
        # Statement -> itself, kept alive, and the lines that go before it.
        self.lines_before: dict[int, tuple[cst.CSTNode, list[cst.SimpleStatementLine]]] = {}
        # Names and what they are given, in lines before the statement in hand.
        self._given_before: list[tuple[str, cst.BaseExpression]] = []
        self._in_line = False
        self._given_names: set[str] = set()
        self._changed_parameters: dict[int, list[str]] = {}  # of functions, for their calls
        self._nested = 0  # lambdas and comprehensions around the node in hand

    def visit_ClassDef(self, node: cst.ClassDef) -> None:
        super().visit_ClassDef(node)
        partner = self.partner(node)
        assert isinstance(partner, ast.ClassDef)
        self._classes = (*self._classes, partner)

    def leave_ClassDef(
        self, original_node: cst.ClassDef, updated_node: cst.ClassDef
    ) -> cst.ClassDef:
        cls, self._classes = self._classes[-1], self._classes[:-1]
        updated_node = super().leave_ClassDef(original_node, updated_node)
        updated_node = with_own_properties(self._project_class(cls), updated_node)
        if id(cls) in self.context.module_classes and self._grows_containers(cls):
            return self._with_named_parameters(updated_node)
        return updated_node

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
            if isinstance(node.func, ast.Attribute) and node.func.attr in _GROWING
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

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        partner = self.partner(original_node)
        new = super().leave_Call(original_node, updated_node)
        if not isinstance(partner, ast.Call):
            return new
        if isinstance(new, cst.Call) and self._is_bare_super(partner):
            return self._full_super(new)
        if isinstance(new, cst.Call) and self._holds_function(partner):
            new = new.with_changes(func=expression(self.spelling.name("helpers.partial")))
        if isinstance(new, cst.Call) and any(isinstance(a.value, cst.Lambda) for a in new.args):
            new = self._without_lambdas(partner, new)
        self._note_inplace_layer(partner, new)
        self._note_changed_arguments(partner, new)
        if isinstance(new, cst.Call) and self._pops_inside(partner):
            name = self._name_for_lambda("last")
            self._given_before.append((name, new))
            return cst.Name(name)
        return new

    def _holds_function(self, call: ast.Call) -> bool:
        in_cell = any(id(cls) in self.context.module_classes for cls in self._classes)
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
            or not self._in_line
            or self._nested
            or not runs_in_forward(self.function, self.context)
        ):
            return False
        for statement in ast.walk(self.function or ast.Module([], [])):
            if isinstance(statement, ast.Assign | ast.AugAssign | ast.Return | ast.Expr):
                inside = list(ast.walk(statement))
                if call in inside:
                    return statement.value is not call and not any(
                        isinstance(node, ast.IfExp | ast.BoolOp) for node in inside
                    )
        return False

    def _is_bare_super(self, call: ast.Call) -> bool:
        """In construct; elsewhere Python itself runs it."""
        return (
            isinstance(call.func, ast.Name)
            and call.func.id == "super"
            and not call.args
            and id(self.function) in self.context.forwards
        )

    def _full_super(self, call: cst.Call) -> cst.Call:
        """A graph takes super() for the parent of the object's own class, and never ends."""
        comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
        owner = getattr(self.function, "args", None)
        itself = owner.args[0].arg if owner is not None and owner.args else "self"
        names = [cst.Arg(cst.Name(self._classes[-1].name), comma=comma), cst.Arg(cst.Name(itself))]
        return call.with_changes(args=names)

    def _note_inplace_layer(self, call: ast.Call, new: cst.BaseExpression) -> None:
        """`y = self.relu(x)`, where the layer writes over x."""
        if self._inplace is None:
            self._inplace = find_inplace_layers(self.context)
        if (
            self._inplace
            and self._classes
            and isinstance(new, cst.Call)
            and isinstance(call.func, ast.Attribute)
            and isinstance(call.func.value, ast.Name)
            and call.func.value.id == "self"
            and (id(self._classes[-1]), call.func.attr) in self._inplace
            and len(call.args) == 1
            and isinstance(call.args[0], ast.Name)
        ):
            self._kept.append(new)
            self.changed_in_place[id(new)] = (new.args[0].value, call.args[0], None)

    def _note_changed_arguments(self, call: ast.Call, new: cst.BaseExpression) -> None:
        """`scale(x, 2)`, where that function changes x in place."""
        if not isinstance(new, cst.Call):
            return
        for given, returned in changed_arguments(
            call, self.context, self.is_compiled, self._changed_parameters
        ):
            alone = id(call) in self._alone
            place = next((a for a, old in zip(new.args, _given(call), strict=True) if old is given))
            kinds = (ast.Name, ast.Attribute, ast.Subscript) if alone else ast.Name
            if returned and isinstance(given, kinds):
                self._kept.append(new)
                self.changed_in_place[id(new)] = (place.value, given, None)
            elif (
                isinstance(given, ast.Name)
                and self.is_read_later(given)
                and not rebinds(call, given.id, self.around())
            ):
                reason = f"changes {given.id} in place in torch, and {given.id} is read again"
                step = f"let the function return the changed tensor, and write {given.id} = ..."
                self.flag(given, Refusal(reason, step, "MS403"))

    def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg) -> cst.Arg:
        """`conv(relu_(x))`, with x read again: x gets its new value on a line before."""
        node = super().leave_Arg(original_node, updated_node)
        changed = self.changed_in_place.get(id(node.value))
        if changed is None or not isinstance(changed[1], ast.Name):
            return node
        place = changed[1]
        self.flag_aliases(place, place.id, "")
        if not self.is_read_later(place):
            return node
        if self._nested or not self._in_line:
            reason = f"changes {place.id} in place, which is read again"
            step = f"write {place.id} = ... on a line before"
            self.flag(place, Refusal(reason, step, "MS403"))
            return node
        del self.changed_in_place[id(node.value)]
        self._given_before.append((place.id, node.value))
        return node.with_changes(value=cst.Name(place.id))

    # Lambdas ------------------------------------------------------------------------------------

    def visit_SimpleStatementLine(self, node: cst.SimpleStatementLine) -> None:
        super().visit_SimpleStatementLine(node)
        self._given_before = []
        self._in_line = True

    def _without_lambdas(self, partner: ast.Call, node: cst.Call) -> cst.Call:
        """A layer that is given a lambda: graphs parse those that stand on lines of their own."""
        if not self._classes or self._nested or not is_module_value(self.context.type(partner)):
            return node
        arguments = []
        for argument in node.args:
            if isinstance(argument.value, cst.Lambda):
                wish = argument.keyword.value if argument.keyword else "function"
                name = self._name_for_lambda(wish)
                self._given_before.append((name, argument.value))
                argument = argument.with_changes(value=cst.Name(name))
            arguments.append(argument)
        return node.with_changes(args=arguments)

    def _name_for_lambda(self, wish: str) -> str:
        """A name that the function does not use yet."""
        around = self.function
        taken = {n.id for n in ast.walk(around) if isinstance(n, ast.Name)} if around else set()
        taken |= {n.arg for n in ast.walk(around) if isinstance(n, ast.arg)} if around else set()
        name = wish
        while name in taken or name in self._given_names:
            name += "_"
        self._given_names.add(name)
        return name

    def leave_SimpleStatementLine(
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.SimpleStatementLine:
        node = super().leave_SimpleStatementLine(original_node, updated_node)
        self._in_line = False
        if self._given_before:
            lines = [
                cst.SimpleStatementLine(
                    [cst.Assign([cst.AssignTarget(cst.Name(name))], on_one_line(value))]
                )
                for name, value in self._given_before
            ]
            self.lines_before[id(node)] = (node, lines)
            self._given_before = []
        return node

    def leave_IndentedBlock(
        self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock
    ) -> cst.IndentedBlock:
        if not self.lines_before:
            return updated_node
        body: list[cst.BaseStatement] = []
        for statement in updated_node.body:
            _, lines = self.lines_before.pop(id(statement), (None, []))
            if lines:
                leading = getattr(statement, "leading_lines", ())
                lines[0] = lines[0].with_changes(leading_lines=leading)
                statement = statement.with_changes(leading_lines=[])
            body += [*lines, statement]
        return updated_node.with_changes(body=body)

    def visit_Lambda(self, node: cst.Lambda) -> None:
        super().visit_Lambda(node)
        self._nested += 1

    def leave_Lambda(
        self, original_node: cst.Lambda, updated_node: cst.Lambda
    ) -> cst.BaseExpression:
        self._nested -= 1
        return updated_node

    def visit_ListComp(self, node: cst.ListComp) -> None:
        self._nested += 1

    def leave_ListComp(
        self, original_node: cst.ListComp, updated_node: cst.ListComp
    ) -> cst.BaseExpression:
        self._nested -= 1
        return updated_node

    def visit_GeneratorExp(self, node: cst.GeneratorExp) -> None:
        self._nested += 1

    def leave_GeneratorExp(
        self, original_node: cst.GeneratorExp, updated_node: cst.GeneratorExp
    ) -> cst.BaseExpression:
        self._nested -= 1
        return updated_node

    def finish(self) -> None:
        super().finish()
        if self.lines_before:
            raise JoinError("a lambda lost its place")


def _given(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(keyword.value for keyword in call.keywords)]
