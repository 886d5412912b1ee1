"""HTML pages from templates: everything that comes from outside is escaped by the engine."""

from __future__ import annotations

import os
import re
import sys
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


def render_page(template: str, *, base: Path | None = None, **values: Any) -> str:
    """The page as text; links to sources lead from `base`, where the page will stand."""
    found = environment().get_template(template)
    urls = {"source_url": lambda path: source_url(path, base or Path.cwd())}
    overlay = environment().overlay()
    overlay.filters.update(urls)
    return overlay.get_template(found.name or template).render(**values)


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


def facts(project: str) -> list[tuple[str, str]]:
    """What a reader of a page wants to know of its making."""
    from migrate.table.entry import VERSIONS

    words = " ".join(["ms-migrate", *map(printable, sys.argv[1:])])
    return [
        ("project", printable(project, keep="")),
        ("date", datetime.now().astimezone().isoformat(sep=" ", timespec="minutes")),
        ("command", words),
        ("made by", f"ms-migrate {__version__}, for MindSpore {VERSIONS[-1]}"),
    ]
