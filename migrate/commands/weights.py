"""`ms-migrate weights`: a checkpoint of one framework as a checkpoint of the other."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from migrate.envelope import as_text, envelope
from migrate.errors import RequestError
from migrate.files.lock import sole_writer
from migrate.parity.request import needs
from migrate.printable import printable
from migrate.weights import convert
from migrate.weights.shards import SAFE_INDEX, TORCH_INDEX

_TORCH = (".pth", ".pt", ".bin", ".tar")  # .pth.tar
_MINDSPORE = (".ckpt",)
_SAFE = ".safetensors"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument(
        "source", metavar="SRC", help=".pth, .pt, .bin, .pth.tar, .ckpt, .safetensors or an index"
    )
    parser.add_argument(
        "destination",
        metavar="DST",
        help=".ckpt, .pth, .pt, .safetensors or .safetensors.index.json",
    )
    parser.add_argument(
        "--model",
        metavar="TARGET",
        help="the model, torch's or MindSpore's: needed where names and shapes do not decide",
    )
    parser.add_argument(
        "--from", dest="origin", choices=("torch", "mindspore"), help="SRC's framework"
    )
    parser.add_argument(
        "--to",
        dest="goal",
        choices=("torch", "mindspore"),
        help="DST's framework (default: by its ending); ported programs read any ending",
    )
    parser.add_argument(
        "--key", default="", help="which entry of a training checkpoint holds the model"
    )
    parser.add_argument(
        "--whole",
        action="store_true",
        help="carry the whole training checkpoint: optimizer, schedule, epoch, loss scale",
    )
    parser.add_argument(
        "--map", metavar="FILE", help="names that differ: lines of torch = mindspore, or JSON"
    )
    parser.add_argument("--keep-prefix", action="store_true", help="keep wrappings such as module.")
    parser.add_argument(
        "--keep-counters",
        action="store_true",
        help="carry num_batches_tracked, which MindSpore ignores",
    )
    parser.add_argument("--force", action="store_true", help="overwrite DST")
    parser.add_argument("--torch-python", default="", metavar="EXE", help="a Python that has torch")
    parser.add_argument(
        "--ms-python", default="", metavar="EXE", help="a Python that has MindSpore"
    )
    parser.add_argument(
        "--timeout", type=float, default=600.0, metavar="S", help="seconds a worker may take"
    )
    parser.add_argument(
        "--format", choices=("text", "json"), default="text", help="how to print the result"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing but errors")


def run(options: argparse.Namespace) -> int:
    """Convert and say what was done."""
    source, destination = Path(options.source), Path(options.destination)
    _refuse_files(source, destination, options)
    _refuse_endings(source, destination)
    plain = any(path.suffix == _SAFE or _is_index(path) for path in (source, destination))
    if options.whole and plain:
        raise RequestError(
            "holds tensors only", where=_SAFE, next_step="leave --whole out, or use .pth and .ckpt"
        )
    return _convert(source, destination, options)


def _refuse_files(source: Path, destination: Path, options: argparse.Namespace) -> None:
    """What the disk says against it."""
    if not source.is_file():
        raise RequestError("no such file", where=options.source)
    if not source.stat().st_size:
        raise RequestError(
            "is empty", where=options.source, next_step="fetch or save the file again"
        )
    if destination.is_dir():
        raise RequestError("is a directory", where=options.destination)
    if os.path.lexists(destination) and not options.force:
        raise RequestError(
            "exists already", where=options.destination, next_step="add --force to overwrite it"
        )
    if not destination.parent.is_dir():
        raise RequestError("no such folder", where=str(destination.parent))


def _refuse_endings(source: Path, destination: Path) -> None:
    for path in (source, destination):
        index = _is_index(path) and (path is source or path.name.endswith(SAFE_INDEX))
        if path.suffix not in (*_TORCH, *_MINDSPORE, _SAFE) and not index:
            raise RequestError(
                f"unknown ending {path.suffix!r}",
                where=str(path),
                next_step="use .pth, .ckpt or .safetensors",
            )


def _is_index(path: Path) -> bool:
    return path.name.endswith((SAFE_INDEX, TORCH_INDEX))


def _convert(source: Path, destination: Path, options: argparse.Namespace) -> int:
    origin, goal = options.origin or _origin(source), options.goal or _goal(destination)
    if options.whole and origin == goal:
        other = "mindspore" if goal == "torch" else "torch"
        raise RequestError(
            f"is {goal}'s as well, so there is nothing to convert",
            where=options.destination,
            next_step=f"say --to {other}, or give it {other}'s ending",
        )
    needs.check()
    with (
        sole_writer(_real(destination)),
        tempfile.TemporaryDirectory(prefix="ms-migrate-") as folder,
    ):
        result = convert.convert(
            convert.Conversion(
                source=source.resolve(),
                destination=_real(destination),
                origin=origin,
                goal=goal,
                model=options.model or "",
                key=options.key,
                map=options.map,
                keep_prefix=options.keep_prefix,
                keep_counters=options.keep_counters,
                pythons={"torch": options.torch_python, "mindspore": options.ms_python},
                timeout=options.timeout,
                whole=options.whole,
                force=options.force,
            ),
            Path(folder),
        )
    _tell(options, result)
    return 0


def _tell(options: argparse.Namespace, result: convert.Outcome) -> None:
    if options.format == "json":
        body = {
            "source": options.source,
            "destination": options.destination,
            "from": result.origin,
            "to": result.goal,
            "tensors": result.count,
            "whole": options.whole,
            "notes": result.notes,
        }
        sys.stdout.write(as_text(envelope("weights", body)))
    elif not options.quiet:
        for note in result.notes:
            print(f"note: {printable(note)}", file=sys.stderr)
        place = printable(options.destination)
        print(f"{place}: {result.count} tensors for {result.goal}, from {result.origin}")


def _real(path: Path) -> Path:
    """The path with its directory resolved; a link at the end is replaced, not written through."""
    return path.parent.resolve() / path.name


def _origin(path: Path) -> str:
    """Lightning, too, saves torch checkpoints as .ckpt, and ported programs save MindSpore's as
    .pt: a zip or a pickle is torch's, whatever its name.
    """
    if path.name.endswith(TORCH_INDEX):
        return "torch"
    if path.suffix not in (*_TORCH, *_MINDSPORE):
        return ""
    with path.open("rb") as file:
        start = file.read(4)
    if start[:2] == b"PK" or start[:1] == b"\x80":
        return "torch"
    # MindSpore's protocol buffer begins with a field of bytes; damaged files keep their name's.
    return "mindspore" if path.suffix in _MINDSPORE or start[:1] == b"\n" else "torch"


def _goal(path: Path) -> str:
    if path.suffix in _TORCH:
        return "torch"
    return "mindspore" if path.suffix in _MINDSPORE else ""
