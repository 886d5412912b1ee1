"""Run several programs one after the other in the processes of one group: starting a group costs
far more than what the programs do.

run_programs.py FOLDER OUT MODE NAME...    each FOLDER/NAME.py or FOLDER/NAME/train.py with OUT/NAME
"""

import os
import runpy
import sys
from pathlib import Path

ARGUMENTS = {"sync_norm": ["2"]}


def _one_group() -> None:
    """torch's group is formed once: formed again over the same store, it waits for ever."""
    from torch import distributed

    form = distributed.init_process_group

    def init_process_group(*args: object, **options: object) -> None:
        if not distributed.is_initialized():
            form(*args, **options)

    distributed.init_process_group = init_process_group
    distributed.destroy_process_group = distributed.barrier


def main(folder: str, out: str, mode: str, *names: str) -> None:
    if mode == "torch":
        _one_group()
    if mode == "graph":
        import mindspore

        mindspore.set_context(mode=mindspore.GRAPH_MODE)
    for name in names:
        program = Path(folder, f"{name}.py")
        if not program.exists():
            program = Path(folder, name, "train.py")
        os.makedirs(Path(out, name), exist_ok=True)
        sys.path[0] = str(program.parent)
        sys.argv = [str(program), str(Path(out, name)), *ARGUMENTS.get(name, [])]
        before = set(sys.modules)
        runpy.run_path(str(program), run_name="__main__")
        for module in set(sys.modules) - before:
            # Two programs may each have a utils.py, and a helper module.
            if str(getattr(sys.modules[module], "__file__", "")).startswith(folder):
                del sys.modules[module]


if __name__ == "__main__":
    main(*sys.argv[1:])
