"""`ms-migrate port`: read the options, port, write or show, and say by the exit code what is
due.
"""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from pathlib import Path

from migrate.errors import RequestError
from migrate.files import in_place
from migrate.port.tree import Options, PortedTree, port_tree
from migrate.port.write_in_place import refuse_links, top_of, write_in_place
from migrate.port.write_output import check_output, write_tree
from migrate.printable import printable
from migrate.project import Project, discover
from migrate.table import Table
from migrate.table.entry import VERSIONS

FORMATS = ("text", "json")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", metavar="PATH", nargs="+", type=Path, help="files or directories")
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument(
        "-o", "--output", metavar="DIR", type=Path, help="write the ported tree there"
    )
    where.add_argument("--diff", action="store_true", help="show what would change, write nothing")
    where.add_argument(
        "--explain-plan",
        action="store_true",
        help="show each training step: its statements and why, inputs, results; write nothing",
    )
    where.add_argument(
        "--check", action="store_true", help="only say whether everything ports, write nothing"
    )
    where.add_argument(
        "--in-place",
        action="store_true",
        help="overwrite the sources; every file must be one that git could bring back",
    )
    parser.add_argument(
        "--force",
        action="store_true",
        help="write into an output that exists, or over sources that git could not bring back",
    )
    parser.add_argument(
        "--backup",
        action="store_true",
        help="with --in-place: keep a copy of every file that is overwritten",
    )
    interrupted = parser.add_mutually_exclusive_group()
    interrupted.add_argument(
        "--resume", action="store_true", help="with --in-place: complete an interrupted run"
    )
    interrupted.add_argument(
        "--rollback", action="store_true", help="with --in-place: undo an interrupted run"
    )
    parser.add_argument(
        "--target",
        choices=("nn", "mint", "torch-npu"),
        default="nn",
        help="API family to emit (default: nn); torch-npu keeps PyTorch and only leaves CUDA",
    )
    parser.add_argument(
        "--ms-version",
        choices=VERSIONS,
        default=VERSIONS[-1],
        help=f"MindSpore that the port is for (default: {VERSIONS[-1]})",
    )
    parser.add_argument(
        "--scaffold",
        action="store_true",
        help="also write launch scripts: one device, several devices (msrun), evaluation",
    )
    parser.add_argument(
        "--with-torchvision",
        metavar="DIR",
        nargs="?",
        const="",
        help="port the torchvision model files that the program uses along with it "
        "(from DIR, or from the torchvision installed here)",
    )
    parser.add_argument(
        "--input-shape",
        metavar="NAME=SHAPE",
        action="append",
        type=_input_shape,
        default=[],
        help="shape of a forward parameter, for example x=8,3,224,224",
    )
    parser.add_argument(
        "--format", choices=FORMATS, default="text", help="form of the summary (default: text)"
    )
    parser.add_argument(
        "--jobs", metavar="N", type=int, default=0, help="processes (default: by size, at most 2)"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="no summary, only errors")
    parser.add_argument(
        "--explain-passes",
        action=_ExplainPasses,
        nargs=0,
        help="list the passes in their order, each with its reason, and exit",
    )


class _ExplainPasses(argparse.Action):
    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: object,
        values: object,
        option: object = "",
    ) -> None:
        from migrate.pipeline.explain import explain_passes

        sys.stdout.write(explain_passes())
        parser.exit()


def _input_shape(text: str) -> tuple[str, tuple[int, ...]]:
    match = re.fullmatch(r"(\w+)=(\d+(?:[,x]\d+)*)", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=SHAPE, for example x=8,3,224,224")
    return match.group(1), tuple(int(size) for size in re.split("[,x]", match.group(2)))


def run(options: argparse.Namespace) -> int:
    """Exit code 0: all ported; 1: something is left for a person; 2: nothing could be done."""
    if options.resume or options.rollback:
        return _finish_interrupted(options)
    _refuse_early(options)
    project = discover(options.paths)
    if options.output is not None:
        project = _without_output(project, options.paths, options.output)
    if not project.files:
        first = project.skipped[0] if project.skipped else None
        raise RequestError(
            first.message if first else "holds no Python source",
            where=str(first.path) if first else "",
            next_step=first.next_step if first else "",
        )
    settings = Options(
        mint=options.target == "mint",
        npu=options.target == "torch-npu",
        input_shapes=dict(options.input_shape),
        jobs=options.jobs,
        output=options.output,
        in_place=options.in_place,
    )
    if options.with_torchvision is not None:
        from migrate.port.local_models import find_models

        settings.models = find_models(options.with_torchvision)
    table = Table(version=options.ms_version)
    tree = port_tree(options.paths, project, table, settings)
    if all(ported.problem is not None for ported in tree.files.values()):
        problem = next(iter(tree.files.values())).problem
        assert problem is not None
        raise RequestError(
            f"{problem.message} [{problem.code}]", where=problem.where, next_step=problem.next_step
        )
    if options.scaffold:
        from migrate.port.scaffold import add_scaffold

        add_scaffold(tree)
    if options.explain_plan:
        sys.stdout.write(_plans(tree))
        return 1 if tree.findings else 0
    if options.diff:
        sys.stdout.write(_diff(tree))
    elif options.output is not None:
        _refuse_overwriting(tree, options.paths, options.output)
        write_tree(tree, options.output, force=options.force)
    elif options.in_place:
        kept = write_in_place(tree, options.paths, force=options.force, backup=options.backup)
        if kept is not None and not options.quiet:
            print(f"ms-migrate: the originals are kept in {kept}", file=sys.stderr)
    from migrate.report.port import summary

    stream = sys.stderr if options.diff else sys.stdout
    if not options.quiet or options.format == "json":
        stream.write(summary(tree, options.format, options.output))
    return 1 if tree.findings else 0


def _refuse_early(options: argparse.Namespace) -> None:
    """What can be refused before anything is read."""
    if options.scaffold and options.in_place:
        raise RequestError(
            "--scaffold needs an output directory of its own",
            next_step="use -o DIR, or port in place without --scaffold",
        )
    if options.scaffold and options.target == "torch-npu":
        raise RequestError(
            "--scaffold writes scripts that start MindSpore, and --target torch-npu keeps PyTorch",
            next_step="leave out one of the two",
        )
    if options.with_torchvision is not None and options.in_place:
        raise RequestError(
            "--with-torchvision needs an output directory of its own",
            next_step="use -o DIR, or port in place without --with-torchvision",
        )
    if options.backup and not options.in_place:
        raise RequestError(
            "--backup goes with --in-place", next_step="-o DIR leaves the sources as they are"
        )
    if options.output is not None:
        check_output(options.output, force=options.force)
    if options.in_place:
        refuse_links(options.paths)
    if all(path.exists() for path in options.paths):
        in_place.refuse_interrupted(top_of(options.paths))


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
