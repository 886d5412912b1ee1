"""`ms-migrate lookup`: what the table says of one API, as a person wants to read it."""

from __future__ import annotations

import argparse
import sys

from migrate.errors import RequestError
from migrate.lookup.names import Answer, search
from migrate.table import Table, TableError

__all__ = ["configure", "run"]


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "name",
        metavar="NAME",
        nargs="+",
        help="torch.nn.Conv2d, nn.Conv2d, F.relu, Tensor.view, a prefix such as torch.optim, or a "
        "finding's code such as MS307",
    )
    parser.add_argument(
        "--format", choices=("text", "json"), default="text", help="how to print the result"
    )
    parser.add_argument(
        "-q", "--quiet", action="store_true", help="print the targets, nothing else"
    )


def run(options: argparse.Namespace) -> int:
    """Show each name's row or rows; a name that leads nowhere is an error with suggestions."""
    if all(_is_code(name) for name in options.name):
        from migrate import explain

        options.code = options.name
        return explain.run(options)
    table = Table()
    try:
        answers = [search(table, name) for name in options.name]
    except TableError as error:
        raise RequestError(str(error), next_step="fix the mapping file, or reinstall") from None
    for answer in answers:
        if not answer.entries:
            raise RequestError(
                f"the table has no torch API called {answer.query!r}",
                next_step=_suggestion(answer),
            )
    if options.format == "json":
        from migrate.lookup.facts import as_document

        sys.stdout.write(as_document(table, answers))
    elif options.quiet:
        for answer in answers:
            for entry in answer.entries:
                print(entry.target or "-")
    else:
        from migrate.lookup.show import show
        from migrate.report.output import screen

        with screen() as console:
            for number, answer in enumerate(answers):
                if number:
                    console.print()
                show(console, table, answer)
    return 0


def _is_code(name: str) -> bool:
    """A finding's code or name, as reports print it."""
    from migrate.findings import CODES

    return name.upper() in CODES or name in {rule.name for rule in CODES.values()}


def _suggestion(answer: Answer) -> str:
    if answer.close:
        return "did you mean " + ", ".join(answer.close) + "?"
    return "give a torch name (torch.nn.Conv2d), or a prefix of one (torch.nn)"
