"""What to try when user code fails in a worker: by the stage that it was in and by the error."""

from __future__ import annotations

import re

_CALL = re.compile(r"missing \d+ required|unexpected keyword|takes .* positional")
_TARGETS = re.compile(r"Target -?\d+ is out of bounds")
_ON_IMPORT = "importing the model"
_FIRST_RUN = "running the model once, to see its output"


def next_step(error: BaseException, what: str, stage: str, *, definitions_only: bool) -> str:
    """One thing to try, or nothing where the message says it all. `what` describes the error: user
    code may raise where its message is read.
    """
    if _TARGETS.search(what):
        return "give --classes N with N at most the number of classes that the model puts out"
    if stage == _FIRST_RUN:
        return "check that --input has the shapes and dtypes that the model expects"
    if stage != _ON_IMPORT:
        return ""
    if isinstance(error, ModuleNotFoundError):
        return "add the folder that holds it: --torch-path DIR, --ms-path DIR (capture: --path DIR)"
    if isinstance(error, TypeError) and _CALL.search(what):
        return (
            "write the arguments into the target, file.py:Net(10), or give a config with --config"
        )
    if definitions_only:
        return ""
    return "if the file trains or reads arguments when imported, add --definitions-only"
