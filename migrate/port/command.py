"""`ms-migrate port`: read the options, port, write or show, and say by the exit code what is
due.
"""

from __future__ import annotations

import argparse
import difflib
import re
import subprocess
import sys
from pathlib import Path

from migrate.errors import RequestError
from migrate.port.tree import Options, PortedTree, port_tree, write_tree
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
        "--check", action="store_true", help="only say whether everything ports, write nothing"
    )
    where.add_argument(
        "--in-place",
        action="store_true",
        help="overwrite the sources (a clean git tree is required)",
    )
    parser.add_argument(
        "--force",
        action="store_true",
        help="write into an output that exists, or into an unclean tree",
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
    project = discover(options.paths)
    if not project.files:
        first = project.skipped[0] if project.skipped else None
        raise RequestError(
            first.message if first else "holds no Python source",
            where=str(first.path) if first else "",
            next_step=first.next_step if first else "",
        )
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
    if options.in_place and not options.force:
        _require_clean(options.paths)
    if options.output is not None:
        project = _without_output(project, options.paths, options.output)
    settings = Options(
        mint=options.target == "mint",
        npu=options.target == "torch-npu",
        input_shapes=dict(options.input_shape),
        jobs=options.jobs,
        output=options.output,
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
    if options.diff:
        sys.stdout.write(_diff(tree))
    elif options.output is not None:
        write_tree(tree, options.output, force=options.force)
    elif options.in_place:
        _write_in_place(tree)
    from migrate.report.port import summary

    stream = sys.stderr if options.diff else sys.stdout
    if not options.quiet or options.format == "json":
        stream.write(summary(tree, options.format, options.output))
    return 1 if tree.findings else 0


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
    kept = [file for file in project.files if not file.path.resolve().is_relative_to(place)]
    return project if len(kept) == len(project.files) else Project(kept, project.skipped)


def _diff(tree: PortedTree) -> str:
    parts: list[str] = []
    for target, ported in tree.files.items():
        if ported.changed:
            source = ported.source
            text = source.path.read_text("utf-8") if source.notebook else source.read()
            before = text.splitlines(keepends=True)
            after = ported.text.splitlines(keepends=True)
            parts += difflib.unified_diff(before, after, f"a/{target}", f"b/{target}")
    for target, text in tree.added.items():
        parts += difflib.unified_diff(
            [], text.splitlines(keepends=True), "/dev/null", f"b/{target}"
        )
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in parts
    )


def _require_clean(paths: list[Path]) -> None:
    """Overwriting is only safe where git can bring the sources back."""
    for path in paths:
        folder = path if path.is_dir() else path.parent
        try:
            status = subprocess.run(
                ["git", "-C", str(folder), "status", "--porcelain", "--", str(path.resolve())],
                capture_output=True,
                text=True,
                check=False,
            )
        except OSError:
            status = None
        if status is None or status.returncode != 0:
            raise RequestError(
                "is not under git, so the sources could not be brought back",
                where=str(path),
                next_step="use -o DIR, or --force to overwrite anyway",
            )
        if status.stdout.strip():
            raise RequestError(
                "has uncommitted changes",
                where=str(path),
                next_step="commit them first, use -o DIR, or --force",
            )


def _write_in_place(tree: PortedTree) -> None:
    """Every file through a temporary neighbour, all prepared before the first is replaced."""
    import os

    prepared: list[tuple[Path, Path]] = []
    originals = {target: ported.source.path for target, ported in tree.files.items()}
    try:
        for ported in tree.files.values():
            if ported.changed:
                path = ported.source.path
                temporary = path.with_name(f".{path.name}.ms-migrate")
                temporary.write_bytes(ported.encoded())
                prepared.append((temporary, path))
        for target, text in tree.helpers.items():
            home = _home_in_place(target, originals)
            temporary = home / f".{target.name}.ms-migrate"
            temporary.write_text(text, encoding="utf-8")
            prepared.append((temporary, home / target.name))
    except OSError as error:
        for temporary, _ in prepared:
            temporary.unlink(missing_ok=True)
        raise RequestError(
            f"cannot be written: {error.strerror}", where=str(error.filename)
        ) from None
    for temporary, path in prepared:
        os.replace(temporary, path)


def _home_in_place(helper: Path, originals: dict[Path, Path]) -> Path:
    """The source directory that corresponds to the helper's place in the output."""
    for target, path in originals.items():
        try:
            inside = target.parent.relative_to(helper.parent)
        except ValueError:
            continue
        home = path.parent
        for _ in inside.parts:
            home = home.parent
        return home
    return next(iter(originals.values())).parent
