"""The pipeline: declared passes, found by walking the stages, in an order computed from reasons."""

from migrate.pipeline.declare import Example, Pass, becomes, declare, flags, same
from migrate.pipeline.discover import all_passes, passes_of
from migrate.pipeline.order import PHASES, OrderError, ordered

__all__ = [
    "PHASES",
    "Example",
    "OrderError",
    "Pass",
    "all_passes",
    "becomes",
    "declare",
    "flags",
    "ordered",
    "passes_of",
    "same",
]
