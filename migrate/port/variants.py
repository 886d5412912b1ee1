"""Rows that take the place of the usual ones in some programs."""

from __future__ import annotations

from migrate.flow.batch_counts import counts_batches
from migrate.flow.parameter_shapes import looks_at_axes
from migrate.flow.project_flags import (
    looks_for_nan,
    makes_complex,
    names_infinity,
    undoes_tanh,
)
from migrate.project import Project
from migrate.table import Table
from migrate.table.load import BATCH_COUNTS, COMPLEX, INFINITE, NAN, PARAMETER_SHAPES, SQUASHED


def with_variants(table: Table, project: Project) -> Table:
    """The table for this program."""
    wanted = {
        NAN: looks_for_nan(project),
        INFINITE: names_infinity(project),
        COMPLEX: makes_complex(project),
        BATCH_COUNTS: counts_batches(project),
        PARAMETER_SHAPES: looks_at_axes(project),
        SQUASHED: undoes_tanh(project),
    }
    variants = tuple(name for name, needed in wanted.items() if needed)
    return Table(table.folder, version=table.version, variants=variants) if variants else table
