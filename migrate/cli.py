"""Parse and dispatch: each command is a module that is imported only when it is chosen."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib import import_module
from pathlib import Path

from migrate import __version__
from migrate.collection import no_collection, no_collection_in_process
from migrate.command_line import config
from migrate.command_line.examples import epilog
from migrate.command_line.parser import Parser, wants_json
from migrate.errors import RequestError
from migrate.last_barrier import Ended, ending_on_signals, explain, provide_streams

# name -> (module with configure(parser) and run(options), one line of help)
COMMANDS = {
    "analyze": (
        "migrate.commands.analyze",
        "which PyTorch APIs a program uses and what MindSpore has for them",
    ),
    "port": ("migrate.commands.port", "rewrite PyTorch source as MindSpore source"),
    "parity": (
        "migrate.commands.parity",
        "run one training step in both frameworks and compare every stage",
    ),
    "capture": (
        "migrate.commands.capture",
        "record one step of one framework, to compare elsewhere",
    ),
    "compare": (
        "migrate.commands.compare",
        "compare two recorded steps; needs neither framework",
    ),
    "weights": ("migrate.commands.weights", "convert checkpoints between the frameworks"),
    "lookup": ("migrate.lookup", "show what the mapping table says of one API"),
    "verify": ("migrate.verify.command", "run mapping rows against torch's own operator databases"),
    "preflight": (
        "migrate.commands.preflight",
        "dry-run a ported program on MindSpore's Ascend backend; needs no device",
    ),
    "explain": ("migrate.explain", "show what a finding's code means and what to do"),
    "doctor": ("migrate.doctor", "check this environment and show how to fix it"),
    "demo": ("migrate.demo", "analyze, port and check the bundled ResNet"),
    "mcp": ("migrate.assistant.mcp_command", "serve the commands to an assistant as MCP tools"),
    "skill": (
        "migrate.assistant.skill_command",
        "print or install the skill that coding assistants load",
    ),
    "completion": (
        "migrate.command_line.completion",
        "print the completion script for a shell",
    ),
}

# What follows `--` belongs to the program that these commands run.
RUN_PROGRAMS = ("preflight",)
# They read trees file by file, and collect garbage where they know that there is some.
READERS = ("analyze", "port")
_EXIT_CODES = (
    "exit codes: 0 fine; 1 found something to act on; 2 could not be carried out; 3 internal error"
)


# What a command finds where nobody said anything of the common options.
_NOT_GIVEN = {
    "quiet": False,
    "verbose": False,
    "color": "auto",
    "config_file": None,
    "no_config": False,
    "debug": False,
}


def build_parser(chosen: str | None) -> tuple[Parser, Parser]:
    """The parser and that of the chosen command, whose module alone is imported."""
    parser = Parser(
        prog="ms-migrate",
        description="Move PyTorch training code to MindSpore, and prove that it computes the same.",
        epilog=f"{_EXIT_CODES}\n`ms-migrate COMMAND --help` shows options, defaults and examples.",
    )
    parser.add_argument("--version", action="version", version=f"ms-migrate {__version__}")
    _add_common(parser, argparse.SUPPRESS)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    own = parser
    for name, (module_name, summary) in COMMANDS.items():
        command = commands.add_parser(
            name, help=summary, description=summary[0].upper() + summary[1:] + "."
        )
        if name == chosen:
            own = command
            module = import_module(module_name)
            module.configure(command)
            told = epilog(name)
            command.epilog = f"{told}\n\n{command.epilog or _EXIT_CODES}"
            command.set_defaults(run=module.run)
        _add_common(command, argparse.SUPPRESS)
    return parser, own


def _add_common(parser: Parser, default: object) -> None:
    """What every command takes, before its name and behind it."""
    common = parser.add_argument_group("common options")
    own_quiet = parser.option("--quiet")
    if own_quiet is not None:
        own_quiet.default = default  # `ms-migrate -q port` says it before the command's name
    else:
        common.add_argument(
            "-q", "--quiet", action="store_true", default=default, help="print errors only"
        )
    common.add_argument(
        "-v",
        "--verbose",
        action="store_true",
        default=default,
        help="also print which configuration was read and how long the command took",
    )
    common.add_argument(
        "--color",
        choices=("auto", "always", "never"),
        default=default,
        help="colours: on a terminal (auto), always or never; NO_COLOR is honoured (default: auto)",
    )
    common.add_argument(
        "--config-file",
        metavar="FILE",
        type=Path,
        default=default,
        help="take defaults from this pyproject.toml or setup.cfg (default: the nearest)",
    )
    common.add_argument(
        "--no-config", action="store_true", default=default, help="read no configuration file"
    )
    common.add_argument(
        "--debug", action="store_true", default=default, help="show the traceback of an error"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; no exception of ours gets past this."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if "_ARGCOMPLETE" in os.environ:
        _complete()
    chosen = _chosen(words)
    provide_streams()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # File names may hold bytes that are no text: shown as escapes, which JSON reads back.
            stream.reconfigure(errors="backslashreplace")
    program: list[str] = []
    if chosen in RUN_PROGRAMS and "--" in words:
        cut = words.index("--")
        words, program = words[:cut], words[cut + 1 :]
    debug = "--debug" in words
    as_json = wants_json(words)
    try:
        options = _parse(words, chosen)
        options.program_arguments = program
        as_json = getattr(options, "format", "") == "json"
        with ending_on_signals(), _colored(options.color):
            began = time.monotonic()
            with _collection(chosen, alone=arguments is None):
                code = int(options.run(options))
            sys.stdout.flush()
            if options.verbose:
                seconds = time.monotonic() - began
                print(f"ms-migrate: {chosen} took {seconds:.2f} s", file=sys.stderr)
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
        return explain(error, debug=debug, command=chosen if as_json else None)


def _collection(chosen: str | None, *, alone: bool) -> AbstractContextManager[None]:
    """How garbage is collected meanwhile; `alone`: the process ends with the command."""
    if chosen not in READERS:
        return nullcontext()
    return no_collection_in_process() if alone else no_collection()


def _chosen(words: Sequence[str]) -> str | None:
    """The command: the first word that is no option, nor an option's value."""
    before = ""
    for word in words:
        if word[:1] != "-" and before not in ("--color", "--config-file"):
            return word if word in COMMANDS else None
        before = word
    return None


def _parse(words: Sequence[str], chosen: str | None) -> argparse.Namespace:
    """Read the words over the defaults of the configuration file."""
    parser, command = build_parser(chosen)
    if not words:
        parser.print_help(sys.stderr)
        parser.exit(2)
    if chosen is not None and "--no-config" not in words:
        path = _config_file(words)
        table = config.read(path) if path is not None else None
        if table is None and any(word.partition("=")[0] == "--config-file" for word in words):
            raise RequestError(
                "has no section for ms-migrate",
                where=str(path),
                next_step="write [tool.ms-migrate] in pyproject.toml, or [ms-migrate] in setup.cfg",
            )
        if path is not None and table is not None:
            config.apply(table, path, chosen, command, COMMANDS)
            if "-v" in words or "--verbose" in words:
                print(f"ms-migrate: configuration from {path}", file=sys.stderr)
    given = argparse.Namespace(**_NOT_GIVEN)
    options, unknown = parser.parse_known_args(list(words), given)
    if unknown:
        command.refuse_unknown(unknown)
    return options


def _config_file(words: Sequence[str]) -> Path | None:
    for word, following in zip(words, [*words[1:], ""], strict=True):
        if word == "--config-file":
            return Path(following)
        if word.startswith("--config-file="):
            return Path(word.partition("=")[2])
    try:
        return config.find(Path.cwd())
    except FileNotFoundError:
        raise RequestError(
            "the current directory does not exist any more", next_step="change to another one"
        ) from None


def _complete() -> None:
    """The shell asks for words; argcomplete answers and ends the process."""
    import argcomplete

    typed = os.environ.get("COMP_LINE", "").split()[1:]
    argcomplete.autocomplete(build_parser(_chosen(typed))[0])


@contextmanager
def _colored(choice: str) -> Iterator[None]:
    """Tell rich and our own consoles by the variables that they, and child processes, honour."""
    names = {"always": "FORCE_COLOR", "never": "NO_COLOR"}
    earlier = dict(os.environ)
    if choice in names:
        os.environ.pop("NO_COLOR", None)
        os.environ[names[choice]] = "1"
    try:
        yield
    finally:
        for name in names.values():
            os.environ.pop(name, None)
            if name in earlier:
                os.environ[name] = earlier[name]
