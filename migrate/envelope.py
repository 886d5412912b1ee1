"""One envelope around every JSON document, that of a failure among them (docs/json_schema.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from migrate import __version__
from migrate.printable import json_text

# The version of each command's own fields; within one, fields are only added.
VERSIONS = {"port": 2, "parity": 2, "preflight": 2, "doctor": 2}


def envelope(
    command: str,
    body: Mapping[str, Any],
    *,
    exit_code: int = 0,
    error: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The fields that all documents begin with, then the command's own."""
    return {
        "schema": f"ms-migrate/{command}",
        "version": VERSIONS.get(command, 1),
        "tool": f"ms-migrate {__version__}",
        "exit_code": exit_code,
        "error": dict(error) if error else None,
        **body,
    }


def as_text(document: Mapping[str, Any]) -> str:
    return json_text(document, indent=2, allow_nan=False) + "\n"


def failure(command: str, code: int, what: str, where: str = "", next_step: str = "") -> str:
    """The document of a command that could not be carried out."""
    error = {"message": what, "where": where, "next_step": next_step}
    return as_text(envelope(command, {}, exit_code=code, error=error))
