"""Parse and dispatch: each command is a module that is imported only when it is chosen."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

from migrate import __version__
from migrate.errors import RequestError

# name -> (module with configure(parser) and run(options), one line of help)
COMMANDS = {
    "analyze": (
        "migrate.analyze.command",
        "which PyTorch APIs a program uses and what MindSpore has for them",
    ),
    "port": ("migrate.port.command", "rewrite PyTorch source as MindSpore source"),
    "parity": (
        "migrate.parity.command",
        "run one training step in both frameworks and compare every stage",
    ),
    "capture": (
        "migrate.parity.capture_command",
        "record one step of one framework, to compare elsewhere",
    ),
    "compare": (
        "migrate.parity.compare_command",
        "compare two recorded steps; needs neither framework",
    ),
    "weights": ("migrate.weights.command", "convert checkpoints between the frameworks"),
    "lookup": ("migrate.lookup", "show what the mapping table says of one API"),
    "verify": ("migrate.verify.command", "run mapping rows against torch's own operator databases"),
    "doctor": ("migrate.doctor", "check this environment and say how to mend it"),
    "demo": ("migrate.demo", "analyze, port and check the bundled ResNet"),
}


def build_parser(chosen: str | None) -> argparse.ArgumentParser:
    """Build the parser; only the chosen command's module is imported and asked for its options."""
    parser = argparse.ArgumentParser(
        prog="ms-migrate",
        description="Move PyTorch training code to MindSpore, and prove that it computes the same.",
        epilog="Exit codes: 0 fine; 1 found something to act on; 2 could not be carried out.",
    )
    parser.add_argument("--version", action="version", version=f"ms-migrate {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, (module_name, summary) in COMMANDS.items():
        command = commands.add_parser(
            name, help=summary, description=summary[0].upper() + summary[1:] + "."
        )
        if name == chosen:
            module = import_module(module_name)
            module.configure(command)
            command.set_defaults(run=module.run)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    chosen = next((word for word in words if word in COMMANDS), None)
    options = build_parser(chosen).parse_args(words)
    try:
        return int(options.run(options))
    except RequestError as error:
        print(f"ms-migrate: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # The reader (head, less) went away: that is its decision, not an error.
        sys.stderr.close()
        return 0
    except KeyboardInterrupt:
        print("ms-migrate: interrupted", file=sys.stderr)
        return 130
