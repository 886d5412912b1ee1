"""flagship_launch.py MODE SCRIPT ARGUMENTS...    a ported program in PyNative or Graph mode"""

import faulthandler
import os
import runpy
import sys
from pathlib import Path

import mindspore

if __name__ == "__main__":
    mode, *sys.argv = sys.argv[1:]
    sys.path[0] = str(Path(sys.argv[0]).resolve().parent)
    faulthandler.dump_traceback_later(1500)  # where a process stands that does not answer
    os.environ.setdefault("MS_MIGRATE_MODE", "pynative")
    if mode == "graph":
        mindspore.set_context(mode=mindspore.GRAPH_MODE)
    runpy.run_path(sys.argv[0], run_name="__main__")
