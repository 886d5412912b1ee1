"""A file as the passes see it: read, with what `--style` replaced and what was lowered."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from migrate.lower.run import Lowered
from migrate.pipeline import Pass
from migrate.port.passes import lower_file
from migrate.port.restyle import Restyled, restyled
from migrate.project import SourceFile
from migrate.resolve import FileResolution, Resolver
from migrate.resolve.module_scope import ModuleScope
from migrate.resolve.usage import Usage
from migrate.syntax.access import is_store
from migrate.syntax.ast_index import nodes_of

_MEMBERS = ("torch.Tensor.", "torch.nn.Module.", "torch.return_types.")


@dataclass(slots=True)
class SourceToPort:
    """One file, read, resolved and lowered."""

    file: SourceFile
    original: str  # as it was read, after the passes over the source
    text: str  # with what was lowered
    resolution: FileResolution  # of that text
    usages: list[Usage]  # of the original
    lowered: Lowered
    lowered_names: frozenset[str]
    styled: Restyled  # with what `--style` replaced

    @property
    def scope(self) -> ModuleScope:
        assert self.resolution.scope is not None
        return self.resolution.scope


def lowered_source(
    resolver: Resolver,
    source: SourceFile,
    text: str,
    resolution: FileResolution,
    passes: Sequence[Pass],
    style: str,
) -> SourceToPort:
    """The file in forms that Graph mode compiles; one that is ported already stays as it is."""
    assert resolution.scope is not None
    usages, original, names = list(resolution.usages), text, frozenset[str]()
    styled = restyled(resolver, resolution, text, passes, style)
    if styled.lines:
        text = styled.text
        resolution = resolver.file(source, text=text)
    assert resolution.scope is not None
    lowered = Lowered(text)
    if not resolution.scope.ported:
        lowered = lower_file(resolver, resolution, text, passes)
    if lowered.lines:
        names = _names_read(resolution.scope.tree)
        text = lowered.text
        resolution = resolver.file(source, text=text)
    assert resolution.scope is not None
    if resolution.scope.ported:
        _drop_members(resolution)
    lowered = Lowered(lowered.text, styled.source_lines(lowered.lines))
    return SourceToPort(source, original, text, resolution, usages, lowered, names, styled)


def _names_read(tree: ast.Module) -> frozenset[str]:
    read = nodes_of(tree, ast.Name)
    return frozenset(node.id for node in read if not is_store(node))


def _drop_members(resolution: FileResolution) -> None:
    """Of a file that is ported already, only what still names torch can need work; methods are
    MindSpore's own.
    """
    resolution.usages = [
        usage
        for usage in resolution.usages
        if usage.form != "unknown" and not usage.api.startswith(_MEMBERS)
    ]
