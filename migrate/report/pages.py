"""HTML pages from templates: everything that comes from outside is escaped by the engine."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from migrate import __version__
from migrate.printable import printable

_CODE = re.compile(r"`([^`]+)`")


def render_page(
    template: str,
    *,
    base: Path | None = None,
    filters: Mapping[str, Callable[..., str]] | None = None,
    **values: Any,
) -> str:
    """The page as text; links to sources lead from `base`, where the page will stand."""
    overlay = environment().overlay()
    overlay.filters = {
        **overlay.filters,
        "source_url": lambda path: source_url(path, base or Path.cwd()),
        **(filters or {}),
    }
    return overlay.get_template(template).render(**values)


@cache
def environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(Path(__file__).with_name("templates")),
        autoescape=lambda name: (name or "").endswith(".html"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["with_code"] = with_code
    made.filters["place"] = lambda place: printable(str(place), keep="")
    made.filters["source_url"] = lambda path: source_url(path, Path.cwd())
    return made


def with_code(text: object) -> Markup:
    """Words between backquotes as code; all of it escaped first."""
    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(printable(str(text))))))


def source_url(path: str, base: Path) -> str:
    """Where a browser finds a source from the page."""
    relative = os.path.relpath(path, base).replace(os.sep, "/")
    return quote(relative.encode("utf-8", "surrogateescape"), safe="/")


def facts(project: str, *, project_known: bool = True) -> list[tuple[str, str]]:
    """What a reader of a page wants to know of its making."""
    from migrate.table.entry import VERSIONS

    words = " ".join(["ms-migrate", *map(printable, sys.argv[1:])])
    return [
        *([("project", printable(project, keep=""))] if project_known else []),
        ("date", datetime.now().astimezone().isoformat(sep=" ", timespec="minutes")),
        ("command", words),
        ("made by", f"ms-migrate {__version__}, for MindSpore {VERSIONS[-1]}"),
    ]
