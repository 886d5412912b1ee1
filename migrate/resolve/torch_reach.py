"""Which files can meet torch at all, by their bytes and imports; nothing is parsed.

A file is reached when it names torch, when it imports a file that does (however far away), or when
a file of these two kinds imports it: `metrics.py` without an import may still be handed tensors.
"""

from __future__ import annotations

from migrate.project import Project, SourceFile
from migrate.project.import_graph import ImportGraph, ImportNode
from migrate.table.packages import Packages


class TorchReach:
    """Answers for one project; each file is read once, at the first question."""

    def __init__(self, project: Project, packages: Packages) -> None:
        self._project = project
        self._packages = packages
        self._reached: frozenset[str] | None = None

    def concerns(self, source: SourceFile) -> bool:
        """Whether the file must be interpreted. An unreadable one is: its reader will say why."""
        if self._reached is None:
            self._reached = self._closure(self._project.imports)
        return str(source.path) in self._reached

    def _closure(self, graph: ImportGraph) -> frozenset[str]:
        unreadable = {path for path, node in graph.nodes.items() if not node.scan.readable}
        naming = {path for path, node in graph.nodes.items() if self._names_torch(node)}
        using = naming | graph.above(naming)
        return frozenset(using | graph.below(using) | unreadable)

    def _names_torch(self, node: ImportNode) -> bool:
        """By an import of torch or a package built on it, or by a name in quotes; a comment that
        mentions torch says nothing.
        """
        if node.source.notebook:  # its lines are quoted
            return node.scan.mentions_torch
        roots = self._packages.roots
        imported = (module for dots, module in node.scan.named if not dots)
        if any("torch" in module or module.partition(".")[0] in roots for module in imported):
            return True
        return node.scan.quotes_torch
