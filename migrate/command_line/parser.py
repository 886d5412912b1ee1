"""argparse with what people expect of it today: suggestions, defaults, examples."""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Iterable
from itertools import pairwise
from typing import Any, NoReturn

from migrate.envelope import failure

_SILENT: tuple[object, ...] = (None, False, "", argparse.SUPPRESS)


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Examples keep their lines; a default that is worth knowing stands behind each option."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        text = action.help or ""
        shown = action.default not in _SILENT and not (
            isinstance(action.default, (list, tuple)) and not action.default
        )
        if shown and action.option_strings and "default" not in text and "%(" not in text:
            text += " (default: %(default)s)"
        return text


class Parser(argparse.ArgumentParser):
    """Names what was probably meant, and fails in JSON where JSON was asked for."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        settings.setdefault("formatter_class", HelpFormatter)
        super().__init__(*arguments, **settings)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            known = [str(choice) for choice in action.choices]
            what = "command" if isinstance(action, argparse._SubParsersAction) else "choice"
            close = did_you_mean(str(value), known)
            told = f"choose from {', '.join(known)}"
            if close:  # of the commands, `--help` says more than their names
                told = close if what == "command" else f"{close} ({told})"
            raise argparse.ArgumentError(action, f"there is no {what} {value!r}: {told}")

    def error(self, message: str) -> NoReturn:
        """One line and the way to more; the usage of twenty options would bury it."""
        print(f"{self.prog}: {message}\n  see `{self.prog} --help`", file=sys.stderr)
        if wants_json(sys.argv[1:]):
            command = self.prog.partition(" ")[2] or "command"
            sys.stdout.write(failure(command, 2, message, next_step=f"see `{self.prog} --help`"))
        self.exit(2)

    def refuse_unknown(self, unknown: Iterable[str]) -> NoReturn:
        """Options that nobody takes."""
        words = list(unknown)
        options = [word.partition("=")[0] for word in words if word[:1] == "-"]
        if not options:
            self.error(f"unexpected argument{'s' * (len(words) > 1)}: {' '.join(words)}")
        close = did_you_mean(options[0], self._option_string_actions)
        self.error(f"there is no option {', '.join(options)}" + (f": {close}" if close else ""))

    def option(self, name: str) -> argparse.Action | None:
        return self._option_string_actions.get(name)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`did you mean analyze?`, or nothing where nothing is near."""
    close = difflib.get_close_matches(word, list(known), 1, 0.6)
    return f"did you mean {close[0]}?" if close else ""


def wants_json(words: Iterable[str]) -> bool:
    """Whether the words ask for JSON, as far as can be told before they are parsed."""
    listed = list(words)
    return "--format=json" in listed or ("--format", "json") in pairwise(listed)
