"""What `port` says at the end: what was ported, what is left, and where."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

from migrate import __version__
from migrate.findings import in_order
from migrate.port.tree import PortedTree
from migrate.printable import printable


def summary(tree: PortedTree, form: str, output: Path | None) -> str:
    return _json(tree, output) if form == "json" else _text(tree, output)


def _numbers(tree: PortedTree) -> dict[str, Any]:
    files = list(tree.files.values())
    usages = sum(ported.usages for ported in files)
    done = sum(ported.ported for ported in files)
    return {
        "files": len(files),
        "changed": sum(ported.changed for ported in files),
        "usages": usages,
        "ported": min(done, usages),
        "share": round(min(done, usages) / usages, 4) if usages else 1.0,
        "helpers": len(tree.helpers),
        "copied": len(tree.copies),
    }


def _json(tree: PortedTree, output: Path | None) -> str:
    document = {
        "schema": "ms-migrate/port/1",
        "version": __version__,
        "output": str(output) if output else None,
        "summary": _numbers(tree),
        "files": [
            {
                "path": str(ported.source.path),
                "target": str(target),
                "changed": ported.changed,
                "usages": ported.usages,
                "ported": ported.ported,
                "helpers": sorted(ported.helpers),
            }
            for target, ported in tree.files.items()
        ],
        "findings": [
            {
                "path": str(finding.path),
                "line": finding.line,
                "column": finding.column,
                "code": finding.code,
                "api": finding.api,
                "severity": finding.severity,
                "message": finding.message,
                "next_step": finding.next_step,
            }
            for finding in in_order(tree.findings)
        ],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _text(tree: PortedTree, output: Path | None) -> str:
    numbers = _numbers(tree)
    stream = io.StringIO()
    for finding in in_order(tree.findings):
        stream.write(f"{finding.where}: {finding.code} {finding.message}\n")
        if finding.next_step:
            stream.write(f"    {finding.next_step}\n")
    left = len(tree.findings)
    if left:
        stream.write("\n")
    place = f" to {output}" if output else ""
    share = f"{numbers['share']:.1%}".replace("100.0%", "100%")
    stream.write(
        f"{numbers['files']} file{'s' * (numbers['files'] != 1)}{place}: "
        f"{numbers['ported']} of {numbers['usages']} torch usages ported ({share})"
    )
    if tree.helpers:
        stream.write(f", helpers in {', '.join(str(path) for path in tree.helpers)}")
    if tree.scaffold:
        scripts = [str(path) for path in tree.scaffold if path.suffix == ".sh"]
        stream.write(f", launched by {', '.join(scripts)}")
    stream.write(f"; {left} left for you\n" if left else "; nothing left to do\n")
    return printable(stream.getvalue())
