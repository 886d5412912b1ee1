"""flagship_launch.py MODE SCRIPT ARGUMENTS...    a ported program in PyNative or Graph mode"""

import runpy
import sys
from pathlib import Path

import mindspore

if __name__ == "__main__":
    mode, *sys.argv = sys.argv[1:]
    sys.path[0] = str(Path(sys.argv[0]).resolve().parent)
    if mode == "graph":
        mindspore.set_context(mode=mindspore.GRAPH_MODE)
    runpy.run_path(sys.argv[0], run_name="__main__")
