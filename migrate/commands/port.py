"""`ms-migrate port`: read the options, port, write or show, and say by the exit code what is
due.
"""

from __future__ import annotations

import argparse
import difflib
import sys
from pathlib import Path

from migrate.command_line.stdin import read_stdin
from migrate.errors import RequestError
from migrate.explain.languages import translated
from migrate.files import in_place
from migrate.findings import Finding, in_order
from migrate.port.options import add_port_options
from migrate.port.tree import Options, PortedTree, port_tree
from migrate.port.write_in_place import refuse_links, top_of, write_in_place
from migrate.port.write_output import check_output, write_tree
from migrate.printable import printable
from migrate.progress import counted
from migrate.project import Project, ReadProblem, discover
from migrate.selection import Chooser, add_options, chooser, without_excluded
from migrate.selection.choose import finish
from migrate.table import Table


def configure(parser: argparse.ArgumentParser) -> None:
    add_port_options(parser)
    add_options(parser)


def run(options: argparse.Namespace) -> int:
    """Exit code 0: all ported; 1: something is left for a person; 2: nothing could be done."""
    if options.resume or options.rollback:
        return _finish_interrupted(options)
    _refuse_early(options)
    chosen = chooser(options)
    if options.output is not None and Path("-") in options.paths:
        options.output = options.output.absolute()
    with read_stdin(options.paths) as options.paths:
        return _port(options, chosen)


def _port(options: argparse.Namespace, chosen: Chooser) -> int:
    project, settings = _asked_for(options), _settings(options)
    table = Table(version=options.ms_version)
    with counted("Porting", len(project.files), options.quiet) as done:
        tree = port_tree(options.paths, project, table, settings, done)
    _refuse_unreadable(tree)
    if options.scaffold:
        _scaffold(tree, options)
    if options.explain_plan:
        sys.stdout.write(_plans(tree))
        return 1 if tree.findings else 0
    found = translated(chosen.findings(in_order(tree.findings)), options.lang)
    code, remark = finish(options, chosen, int(bool(found)))
    try:
        _write(tree, options)
    except ReadProblem as problem:  # a source is not what it was
        said = problem.finding
        raise RequestError(said.message, where=said.where, next_step=said.next_step) from None
    _report(tree, found, options)
    if not options.quiet or options.format == "json":
        _summarise(tree, found, options, str(chosen.hidden), code)
    if remark and not options.quiet:
        print(f"ms-migrate: {printable(remark)}", file=sys.stderr)
    return code


def _asked_for(options: argparse.Namespace) -> Project:
    """The files to port; the output of an earlier port is none of them."""
    project = without_excluded(discover(options.paths), options.exclude)
    if options.output is not None:
        project = _without_output(project, options.paths, options.output)
    if project.files:
        return project
    if not project.skipped:
        raise RequestError("holds no Python source", where="", next_step="")
    first = project.skipped[0]
    raise RequestError(first.message, where=str(first.path), next_step=first.next_step)


def _settings(options: argparse.Namespace) -> Options:
    settings = Options(
        mint=options.target == "mint",
        npu=options.target == "torch-npu",
        input_shapes=dict(options.input_shape),
        jobs=options.jobs,
        output=options.output,
        in_place=options.in_place,
        trace=bool(options.report),
        package=options.helpers == "package",
        data=_data_choice(options),
        style=options.style,
    )
    if options.with_torchvision is not None:
        from migrate.port.local_models import find_models

        settings.models = find_models(options.with_torchvision)
    return settings


def _refuse_unreadable(tree: PortedTree) -> None:
    """No file could be read: say so of the first."""
    problems = [ported.problem for ported in tree.files.values()]
    first = problems[0] if problems else None
    if first is not None and None not in problems:
        raise RequestError(
            f"{first.message} [{first.code}]", where=first.where, next_step=first.next_step
        )


def _scaffold(tree: PortedTree, options: argparse.Namespace) -> None:
    from migrate.port.scaffold import add_scaffold

    remark = add_scaffold(tree)
    if remark and not options.quiet:
        print(f"warning: {remark}", file=sys.stderr)


def _summarise(
    tree: PortedTree, found: list[Finding], options: argparse.Namespace, hidden: str, code: int
) -> None:
    """What was ported, and what is left; beside source or a diff it goes to stderr."""
    from migrate.report.port import Shown, hint, summary

    stream = sys.stderr if options.diff or _shows_source(options) else sys.stdout
    shown = Shown(found, hidden, code, options.assumptions)
    stream.write(summary(tree, options.format, options.output, shown))
    told = hint(tree, listed=options.assumptions or options.report is not None)
    if told and sys.stderr.isatty():
        print(f"ms-migrate: {told}", file=sys.stderr)


def _data_choice(options: argparse.Namespace) -> str:
    return "close" if options.pixels == "close" else str(options.data)


def _report(tree: PortedTree, found: list[Finding], options: argparse.Namespace) -> None:
    if options.report is None:
        return
    from migrate.report.output import write_file
    from migrate.report.port_html import render

    write_file(options.report, render(tree, found, options.report.parent))
    if not options.quiet:
        print(f"ms-migrate: wrote {printable(str(options.report))}", file=sys.stderr)


def _write(tree: PortedTree, options: argparse.Namespace) -> None:
    """Put the port where it was asked for."""
    if options.diff:
        sys.stdout.write(_diff(tree))
    elif options.output is not None:
        _refuse_overwriting(tree, options.paths, options.output)
        write_tree(tree, options.output, force=options.force)
    elif options.in_place:
        kept = write_in_place(tree, options.paths, force=options.force, backup=options.backup)
        if kept is not None and not options.quiet:
            print(f"ms-migrate: the originals are kept in {kept}", file=sys.stderr)
    elif _shows_source(options):
        sys.stdout.write("".join(ported.text for ported in tree.files.values()))


def _shows_source(options: argparse.Namespace) -> bool:
    """`ms-migrate port -`: a filter, from standard input to standard output."""
    chosen = options.output, options.diff, options.check, options.in_place, options.explain_plan
    return not any(chosen)


def _refuse_early(options: argparse.Namespace) -> None:
    """What can be refused before anything is read."""
    if options.report is not None:
        from migrate.report.output import check_file

        options.report = options.report.absolute()
        check_file(options.report)
    if options.write_baseline and options.baseline is not None:
        from migrate.report.output import check_file

        check_file(options.baseline)
    if _shows_source(options) and Path("-") not in options.paths:
        raise RequestError(
            "where should the port go?",
            next_step="give -o DIR, --diff, --check, --in-place or --explain-plan",
        )
    if options.in_place and Path("-") in options.paths:
        raise RequestError("standard input cannot be overwritten", next_step="leave out --in-place")
    _refuse_target(options)
    _refuse_combination(options)
    if options.output is not None:
        check_output(options.output, force=options.force)
    if options.in_place:
        refuse_links(options.paths)
    if all(path.exists() for path in options.paths):
        in_place.refuse_interrupted(top_of(options.paths))


def _refuse_combination(options: argparse.Namespace) -> None:
    """Options that say nothing together, or contradict each other."""
    for option, given in (
        ("--scaffold", options.scaffold),
        ("--with-torchvision", options.with_torchvision is not None),
    ):
        if given and options.in_place:
            raise RequestError(
                f"{option} needs a separate output directory",
                next_step=f"use -o DIR, or port in place without {option}",
            )
    if options.pixels == "close" and options.data != "native":
        raise RequestError(
            "--pixels close is about the operations of --data native",
            next_step="add --data native, or leave out --pixels",
        )
    if options.backup and not options.in_place:
        raise RequestError(
            "--backup goes with --in-place", next_step="-o DIR leaves the sources as they are"
        )


def _refuse_target(options: argparse.Namespace) -> None:
    """What goes with some API families alone."""
    if options.scaffold and options.target == "torch-npu":
        raise RequestError(
            "--scaffold writes scripts that start MindSpore, and --target torch-npu keeps PyTorch",
            next_step="leave out one of the two",
        )
    if options.helpers == "package" and options.target == "mint":
        raise RequestError(
            "ms_migrate_runtime is made of MindSpore's classic layers, not of mint's",
            next_step="leave out --helpers package, or --target mint",
        )
    if options.data == "native" and options.target != "nn":
        raise RequestError(
            "--data native writes pipelines for --target nn", next_step="leave out one of the two"
        )
    if options.style == "mindspore" and options.target != "nn":
        raise RequestError(
            "--style mindspore writes mindspore.train.Model for --target nn",
            next_step="leave out one of the two",
        )


def _plans(tree: PortedTree) -> str:
    """The training steps of each file."""
    found = [f"{path}\n{ported.plan}" for path, ported in tree.files.items() if ported.plan]
    return "\n".join(found) or "no training step: nothing calls backward()\n"


def _finish_interrupted(options: argparse.Namespace) -> int:
    if not options.in_place:
        raise RequestError("--resume and --rollback go with --in-place")
    top = top_of(options.paths)
    count = in_place.resume(top) if options.resume else in_place.rollback(top)
    if not options.quiet:
        done = "completed" if options.resume else "undone"
        print(f"ms-migrate: the interrupted run on {count} files was {done}", file=sys.stderr)
    return 0


def _without_output(project: Project, paths: list[Path], output: Path) -> Project:
    """An output inside the sources is no source, and the sources themselves are no output."""
    place = output.resolve()
    for path in paths:
        if path.resolve() == place or (path.is_file() and path.resolve().parent == place):
            raise RequestError(
                "is where the sources are, and they would be overwritten",
                where=str(output),
                next_step="choose another -o DIR, or use --in-place",
            )
    inside = [path for path in paths if path.is_dir() and place.is_relative_to(path.resolve())]
    if not inside:
        return project
    files = [file for file in project.files if not file.path.resolve().is_relative_to(place)]
    return project if len(files) == len(project.files) else Project(files, project.skipped)


def _refuse_overwriting(tree: PortedTree, paths: list[Path], output: Path) -> None:
    """An output above the sources is fine as long as nothing of it lands among them."""
    place = output.resolve()
    roots = [path.resolve() for path in paths if not place.is_relative_to(path.resolve())]
    for target in (*tree.files, *tree.copies, *tree.links, *tree.added):
        if any((place / target).is_relative_to(root) for root in roots):
            raise RequestError(
                "would be written among the sources",
                where=str(output / target),
                next_step="choose another -o DIR",
            )


def _diff(tree: PortedTree) -> str:
    parts: list[str] = []
    for target, ported in tree.files.items():
        if ported.changed:
            source = ported.source
            text = source.path.read_text("utf-8-sig") if source.notebook else source.read()
            before = text.splitlines(keepends=True)
            after = ported.text.splitlines(keepends=True)
            name = printable(str(target), keep="")
            parts += difflib.unified_diff(before, after, f"a/{name}", f"b/{name}")
    for target, text in tree.added.items():
        parts += difflib.unified_diff(
            [], text.splitlines(keepends=True), "/dev/null", f"b/{target}"
        )
    patch = "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in parts
    )
    # A patch in a pipe is applied byte for byte; one on a terminal is only read.
    return printable(patch) if sys.stdout.isatty() else patch
