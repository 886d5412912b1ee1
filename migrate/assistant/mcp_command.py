"""`ms-migrate mcp`: an MCP server on standard input and output."""

from __future__ import annotations

import argparse
from importlib.util import find_spec

from migrate.errors import RequestError


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--timeout",
        type=float,
        default=1800.0,
        metavar="S",
        help="seconds that one tool may take",
    )


def run(options: argparse.Namespace) -> int:
    """Serve until standard input ends."""
    if find_spec("mcp") is None:
        raise RequestError(
            "needs the MCP SDK, which this environment does not have",
            next_step="pip install 'ms-migrate[mcp]'",
        )
    from migrate.assistant.server import make_server

    make_server(options.timeout).run("stdio")
    return 0
