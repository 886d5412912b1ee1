"""Blocks whose statements went away: comments go to the next one, and an empty body is `pass`."""

from __future__ import annotations

import libcst as cst

from migrate.pipeline import becomes, declare
from migrate.rewrite.node_pass import NodePass
from migrate.rewrite.statements.suites import tidied


@declare(
    phase="rewrite",
    unit="node",
    after={"insert_steps": "a step may fill a block, or take statements out of it"},
    examples=[
        becomes(
            """
            def prepare(flag):
                if flag():
                    torch.backends.cudnn.benchmark = True
            """,
            """
            def prepare(flag):
                if flag():
                    pass
            """,
        ),
    ],
)
class EmptiedBlocks(NodePass):
    """Puts the statements of a block together again."""

    def leave_IndentedBlock(
        self, original: cst.IndentedBlock, updated: cst.IndentedBlock
    ) -> cst.IndentedBlock:
        return tidied(updated)
