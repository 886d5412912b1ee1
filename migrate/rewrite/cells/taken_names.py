"""`self.cells = nn.ModuleList(...)`: `cells` is a method of nn.Cell, which MindSpore itself calls.

An attribute of such a name raises when it is set, or breaks what MindSpore does with the network
later. Names of parameters follow those of attributes, so that a rename is the program's to make.
"""

from __future__ import annotations

import ast

import libcst as cst

from migrate.pipeline import declare, flags, same
from migrate.pipeline.refusal import Refusal
from migrate.rewrite.node_pass import NodePass
from migrate.syntax.access import is_store, name_of

# Members of nn.Cell that nn.Module does not have, as a program may name its own.
_TAKEN = frozenset(
    """
    _cells _compiled _id _params _params_list _phase _phase_cache _predict _primitives
    _recompute _scope add_flags arguments_key bprop_debug cast_inputs cell_init_args cell_type
    cells cells_and_names check_names cls_name compile_cache compile_phase compiled create_time
    exist_names exist_objs get_flags get_inputs get_parameters get_scope get_sub_cell
    global_cells has_bprop insert_child_to_cell insert_param_to_cell is_top_cell
    jit_config_dict mixed_precision_type name_cells offload param_prefix parameter_layout_dict
    parameters_and_names parameters_dict phase phase_cache pipeline_segment pipeline_stage
    recompute run_construct set_boost set_data_parallel set_grad set_inputs set_train shard
    to_float total_instance_count trainable_params untrainable_params update_parameters_name
    """.split()  # noqa: SIM905
)


@declare(
    phase="rewrite",
    unit="node",
    needs=["classes"],
    examples=[
        flags(
            """
            class Net(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.cells = nn.ModuleList()
            """,
            "`cells` is a member of MindSpore's nn.Cell",
        ),
        same("class Grid:\n    def __init__(self):\n        self.cells = []"),
    ],
)
class TakenNames(NodePass):
    """Reports them where they are set."""

    def visit_Attribute(self, node: cst.Attribute) -> None:
        if node.attr.value not in _TAKEN or not self.file.position.classes:
            return
        partner = self.partner(node)
        if (
            isinstance(partner, ast.Attribute)
            and is_store(partner)
            and name_of(partner.value) == "self"
            and self.file.position.classes[-1] in self.context.module_classes
        ):
            name = node.attr.value
            reason = f"`{name}` is a member of MindSpore's nn.Cell, which an attribute would hide"
            step = f"rename the attribute, for example to {name}_, everywhere in the program"
            self.flag(partner, Refusal(reason, step, "MS302"))
