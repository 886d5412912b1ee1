"""Parse and dispatch: each command is a module that is imported only when it is chosen."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

from migrate import __version__
from migrate.last_barrier import Ended, ending_on_signals, explain

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
    "preflight": (
        "migrate.preflight.command",
        "dry-run a ported program on MindSpore's Ascend backend; needs no device",
    ),
    "explain": ("migrate.explain", "tell what a finding's code means and what to do"),
    "doctor": ("migrate.doctor", "check this environment and say how to mend it"),
    "demo": ("migrate.demo", "analyze, port and check the bundled ResNet"),
}

# What follows `--` belongs to the program that these commands run.
RUN_PROGRAMS = ("preflight",)
_DEBUG = "show the traceback of an error"


def build_parser(chosen: str | None) -> argparse.ArgumentParser:
    """Build the parser; only the chosen command's module is imported and asked for its options."""
    parser = argparse.ArgumentParser(
        prog="ms-migrate",
        description="Move PyTorch training code to MindSpore, and prove that it computes the same.",
        epilog="Exit codes: 0 fine; 1 found something to act on; 2 could not be carried out; "
        "3 internal error.",
    )
    parser.add_argument("--version", action="version", version=f"ms-migrate {__version__}")
    parser.add_argument("--debug", action="store_true", help=_DEBUG)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, (module_name, summary) in COMMANDS.items():
        command = commands.add_parser(
            name, help=summary, description=summary[0].upper() + summary[1:] + "."
        )
        command.add_argument("--debug", action="store_true", default=argparse.SUPPRESS, help=_DEBUG)
        if name == chosen:
            module = import_module(module_name)
            module.configure(command)
            command.set_defaults(run=module.run)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; no exception of ours gets past this."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    chosen = next((word for word in words if word in COMMANDS), None)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # File names may hold bytes that are no text: shown as escapes, which JSON reads back.
            stream.reconfigure(errors="backslashreplace")
    program: list[str] = []
    if chosen in RUN_PROGRAMS and "--" in words:
        cut = words.index("--")
        words, program = words[:cut], words[cut + 1 :]
    options = build_parser(chosen).parse_args(words)
    options.program_arguments = program
    debug = getattr(options, "debug", False)
    try:
        with ending_on_signals():
            code = int(options.run(options))
            sys.stdout.flush()
            return code
    except BrokenPipeError:
        # The reader (head, less) went away: that is its decision, not an error.
        sys.stderr.close()
        return 0
    except KeyboardInterrupt:
        print("ms-migrate: interrupted", file=sys.stderr)
        return 130
    except Ended as signal_received:
        print(f"ms-migrate: ended by {signal_received.name}", file=sys.stderr)
        return 128 + signal_received.number
    except Exception as error:
        return explain(error, debug=debug)
