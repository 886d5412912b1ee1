"""Which files belong to what the user asked for, and what Python calls them."""

from migrate.project.files import Project, SourceFile, discover
from migrate.project.parse import parse
from migrate.project.shared_trees import shared_tree
from migrate.project.text import MAXIMUM_BYTES, ReadProblem

__all__ = [
    "MAXIMUM_BYTES",
    "Project",
    "ReadProblem",
    "SourceFile",
    "discover",
    "parse",
    "shared_tree",
]
