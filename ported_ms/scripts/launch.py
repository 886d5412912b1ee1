"""Choose how MindSpore runs a ported script, then run it: device, mode, precision, profiling.

python scripts/launch.py train.py --device_target CPU --mode graph -- --epochs 2
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import itertools
import os
import runpy
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any


def parse(arguments: list[str]) -> argparse.Namespace:
    """Options before `--` are read here, those after it belong to the script."""
    parser = argparse.ArgumentParser(
        prog="launch.py", usage="%(prog)s SCRIPT [options] [-- options of the script]"
    )
    parser.add_argument("script", metavar="SCRIPT", type=Path)
    parser.add_argument("--device_target", choices=("CPU", "GPU", "Ascend"), default=None)
    parser.add_argument(
        "--mode",
        choices=("auto", "graph", "pynative"),
        default=os.environ.get("MS_MIGRATE_MODE") or "auto",
        help="compile training steps where they compile (default), the whole program, or nothing",
    )
    parser.add_argument(
        "--jit_level", choices=("O0", "O1", "O2"), default=None, help="O1: with graph-kernel fusion"
    )
    parser.add_argument(
        "--amp_level",
        choices=("O0", "O1", "O2", "O3", "auto"),
        default=None,
        help="where the script uses autocast (default: O1)",
    )
    parser.add_argument(
        "--loss_scale",
        type=float,
        default=None,
        metavar="NUMBER",
        help="a fixed one, where the script uses GradScaler (default: dynamic)",
    )
    parser.add_argument(
        "--all_reduce_fusion",
        metavar="I,J,...",
        type=lambda text: [int(index) for index in text.split(",")],
        default=None,
        help="split the gradients' AllReduce after these parameters",
    )
    parser.add_argument(
        "--dataset_sink",
        action="store_true",
        help="batches come through the device's own queue (Ascend, GPU)",
    )
    parser.add_argument("--profile", metavar="DIR", default=None, help="write a profile there")
    parser.add_argument(
        "--script_option", metavar="OPTION", action="append", default=[], help=argparse.SUPPRESS
    )
    split = arguments.index("--") if "--" in arguments else len(arguments)
    options = parser.parse_args(arguments[:split])
    options.script_options = [*options.script_option, *arguments[split + 1 :]]
    if not options.script.is_file():
        parser.error(f"{options.script} is not a file")
    return options


def use_fast_convolutions(device: str | None) -> None:
    """On AMD processors with AVX-512, oneDNN takes its reference convolution, 40 times slower."""
    try:
        facts = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    if device in (None, "CPU") and "AuthenticAMD" in facts and "avx512f" in facts:
        os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX2")


def configure(options: argparse.Namespace) -> None:
    """Everything that must be settled before the script's first operator."""
    use_fast_convolutions(options.device_target)
    os.environ["MS_MIGRATE_MODE"] = options.mode
    if options.amp_level is not None:
        os.environ["MS_MIGRATE_AMP_LEVEL"] = options.amp_level
    if options.loss_scale is not None:
        os.environ["MS_MIGRATE_LOSS_SCALE"] = str(options.loss_scale)
    import mindspore

    if options.device_target is not None:
        try:
            mindspore.set_device(options.device_target)
        except RuntimeError as error:
            reason = str(error).partition(". ")[0]
            raise SystemExit(f"launch.py: {reason}") from None
    if options.dataset_sink:
        if mindspore.get_context("device_target") == "CPU":
            # What mindspore.data_sink says; better before the data is read than after.
            reason = "Data sinking supports ascend or gpu device target, but device target is CPU."
            raise SystemExit(f"launch.py: --dataset_sink: {reason}")
        os.environ["MS_MIGRATE_DATASET_SINK"] = "1"  # for loaders before MindSpore 2.10
        if "dataset_sink_mode" in options.script.read_text(encoding="utf-8"):
            sink_models()  # a script in MindSpore's own style
        else:
            sink_batches()
    graph = options.mode == "graph"
    mindspore.set_context(mode=mindspore.GRAPH_MODE if graph else mindspore.PYNATIVE_MODE)
    if options.jit_level is not None:
        mindspore.set_context(jit_config={"jit_level": options.jit_level})
    if options.all_reduce_fusion is not None:
        mindspore.set_auto_parallel_context(all_reduce_fusion_config=options.all_reduce_fusion)


def sink_batches() -> None:
    """Let batches of Tensors come through the device's queue, filled ahead of the steps."""
    import mindspore
    import mindspore.dataset as ds

    try:
        from mindspore.dataset import dataloader
    except ImportError:  # before MindSpore 2.10
        return
    plain = dataloader.DataLoader.__iter__

    def columns(*values: object) -> object:
        return values

    def sunk(loader: dataloader.DataLoader) -> Iterator[object]:
        batches = plain(loader)
        first = next(batches, None)
        if first is None:
            return
        if not isinstance(first, list | tuple) or not all(
            isinstance(value, mindspore.Tensor) for value in first
        ):
            raise SystemExit("launch.py: --dataset_sink takes batches that are lists of Tensors")

        def rows() -> Iterator[tuple[object, ...]]:
            for batch in itertools.chain([first], batches):
                yield tuple(value.asnumpy() for value in batch)

        names = [f"column_{number}" for number in range(len(first))]
        fetch = mindspore.data_sink(columns, ds.GeneratorDataset(rows, names, shuffle=False))
        for _ in range(len(loader)):
            yield list(fetch())

    dataloader.DataLoader.__iter__ = sunk


def sink_models() -> None:
    """Let mindspore.train.Model sink its datasets, whatever the script says."""
    from mindspore import train

    for name in ("train", "fit", "eval"):
        plain = getattr(train.Model, name)

        @functools.wraps(plain)
        def sunk(*args: Any, plain: Callable[..., Any] = plain, **options: Any) -> Any:
            for option in ("dataset_sink_mode", "valid_dataset_sink_mode"):
                if option in options:
                    options[option] = True
            return plain(*args, **options)

        setattr(train.Model, name, sunk)


def profiled(folder: str | None) -> contextlib.AbstractContextManager[object]:
    """Record the whole run, if that is wanted."""
    if folder is None:
        return contextlib.nullcontext()
    from mindspore import profiler

    manager: contextlib.AbstractContextManager[object] = profiler.profile(
        on_trace_ready=profiler.tensorboard_trace_handler(folder)
    )
    return manager


def main() -> None:
    options = parse(sys.argv[1:])
    configure(options)
    script = options.script.resolve()
    # As if Python had been started with the script itself.
    sys.argv = [str(options.script), *options.script_options]
    sys.path[0] = str(script.parent)
    with profiled(options.profile):
        runpy.run_path(str(script), run_name="__main__")


if __name__ == "__main__":
    main()
