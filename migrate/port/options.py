"""The options of `ms-migrate port`."""

from __future__ import annotations

import argparse
import re
import sys

from migrate.project.path_argument import path_argument
from migrate.project.process_count import process_count
from migrate.table.entry import VERSIONS

FORMATS = ("text", "json", "github")


def add_port_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths",
        metavar="PATH",
        nargs="+",
        type=path_argument,
        help="files or directories; - for standard input",
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "-o", "--output", metavar="DIR", type=path_argument, help="write the ported tree there"
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
        "--helpers",
        choices=("vendored", "package"),
        type=lambda word: "vendored" if word == "module" else word,  # its name before 1.0
        default="vendored",
        help="where helpers come from: written beside the port, or the installed package "
        "ms_migrate_runtime (default: vendored)",
    )
    parser.add_argument(
        "--style",
        choices=("torch", "mindspore"),
        default="torch",
        help="training loops as the program has them (torch), or plain ones as "
        "mindspore.train.Model with callbacks and metrics (mindspore; default: torch)",
    )
    parser.add_argument(
        "--data",
        choices=("exact", "native"),
        default="exact",
        help="data loaders as in torch, sample by sample (exact), or as pipelines of "
        "mindspore.dataset where dataset and transforms are known (native; default: exact)",
    )
    parser.add_argument(
        "--pixels",
        choices=("exact", "close"),
        default="exact",
        help="with --data native: keep PIL where MindSpore's C++ operations give other pixels "
        "(exact), or take them (close; default: exact)",
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
        "--jobs",
        metavar="N",
        type=process_count,
        default=0,
        help="processes (default: by size, at most 2)",
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="no summary, only errors")
    parser.add_argument(
        "--report",
        metavar="FILE.html",
        type=path_argument,
        help="also write one page: both sources side by side, and why each line changed",
    )
    parser.add_argument(
        "--assumptions", action="store_true", help="list each assumption with its lines and a check"
    )
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
