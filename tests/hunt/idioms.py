"""Read the idioms: each file under programs/ is a subject, each `# %%` cell of it one idiom.

    # %% [9, 11] an integer beside an index tensor
    # in: 2,3,4,4 5:int64:0:4; grad
    def f(x, rows): ...

The numbers say which class of difference the idiom belongs to (see CLASSES). A cell either defines
`run()`, a program of its own, or `f`, a function of tensors. A function is run twice: called as it
is, and from the `forward` of a network, where Graph mode compiles it; with `grad` the network's
loss is differentiated as well. `# in:` lists the inputs: shape[:dtype[:low:high]].
A line `# --- name.py` starts another file of the same program. `# raises` says that torch raises.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

PROGRAMS = Path(__file__).parent / "programs"

CLASSES = {
    1: "writes to attributes",
    2: "no-grad regions",
    3: "clipping",
    4: "parameters without a gradient",
    5: "layers that become primitives",
    6: "statements moved across a rebinding",
    7: "settings as constants of a graph",
    8: "training mode",
    9: "integers beside index tensors",
    10: "in-place layers in containers",
    11: "views",
    12: "state_dict edits",
    13: "data and transforms",
    14: "two backward passes, two steps",
    15: "NaN",
    16: "dtypes",
    17: "buffers",
    18: "legacy constructors",
    19: "weight_norm and spectral_norm",
    20: "packed sequences",
    21: "Graph mode across files",
    22: "asynchronous errors",
    23: "argument types",
    24: "classes of the program",
    25: "loud at run time",
    0: "ordinary code",
}

HEADER = """\
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
"""

# Weights and data that are the same everywhere, in the words of a torch program.
FILL = """

def fill(model, seed=0):
    rng = np.random.default_rng(seed)
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.from_numpy(rng.standard_normal(tuple(p.shape)).astype("float32") * 0.4))
    return model
"""
DATA = """

def data(*shape, seed=1):
    rng = np.random.default_rng(seed)
    return torch.tensor(rng.standard_normal(shape).astype("float32"))
"""
LABELS = """

def labels(n, classes, seed=2):
    rng = np.random.default_rng(seed)
    return torch.tensor(rng.integers(0, classes, n))
"""
SUPPORT = {"fill": FILL, "data": DATA, "labels": LABELS}

_CELL = re.compile(r"^# %% *(?:\[([\d, ]*)\])? *(.+)$", re.M)
_INPUTS = re.compile(r"^# in: *(.*)$", re.M)
_FILE = re.compile(r"^# --- *(\S+)$", re.M)


@dataclass(slots=True)
class Program:
    """One program to port and run in its three ways."""

    idiom: str
    subject: str
    classes: tuple[int, ...]
    form: str  # "" for a program of its own, "function" or "network" for a function
    files: dict[str, str] = field(default_factory=dict)  # name -> source; main.py has run()
    raises: bool = False  # torch raises, and so must the port

    @property
    def key(self) -> str:
        return f"{self.subject}: {self.idiom}"

    @property
    def name(self) -> str:
        return self.key + (f" ({self.form})" if self.form else "")

    @property
    def folder(self) -> str:
        return re.sub(r"\W+", "_", f"{self.subject}_{self.idiom}_{self.form}").strip("_")


def subjects(folder: Path = PROGRAMS) -> list[str]:
    return sorted(path.stem for path in folder.glob("*.py"))


def read_programs(subject: str, folder: Path = PROGRAMS) -> Iterator[Program]:
    """Every program of a subject's file, in order."""
    text = (folder / f"{subject}.py").read_text(encoding="utf-8")
    cells = list(_CELL.finditer(text))
    ends = [cell.start() for cell in cells[1:]] + [len(text)]
    for cell, end in zip(cells, ends, strict=True):
        numbers = tuple(int(n) for n in (cell[1] or "0").split(",") if n.strip())
        yield from _programs(subject, cell[2].strip(), numbers, text[cell.end() : end])


def _programs(subject: str, idiom: str, classes: tuple[int, ...], body: str) -> Iterator[Program]:
    inputs = _INPUTS.search(body)
    parts = _FILE.split(body)
    others = dict(zip(parts[1::2], (with_header(part) for part in parts[2::2]), strict=True))
    if inputs is None:
        files = {"main.py": with_header(parts[0])} | others
        yield Program(idiom, subject, classes, "", files, "# raises" in body)
        return
    shapes, _, options = inputs[1].partition(";")
    code = parts[0]
    for form, driver in (("function", _function_driver), ("network", _network_driver)):
        source = code + driver(shapes.split(), "grad" in options)
        files = {"main.py": with_header(source)} | others
        yield Program(idiom, subject, classes, form, files, "raises" in options)


def with_header(body: str) -> str:
    """The imports that every program has, and the support functions that it calls."""
    support = "".join(text for name, text in SUPPORT.items() if re.search(rf"\b{name}\(", body))
    header = HEADER
    for line in re.findall(r"^from __future__ .*\n", body, re.M):
        header, body = line + header, body.replace(line, "")
    return f"{header}{support}\n\n{body.strip()}\n"


def _drawn(number: int, spec: str) -> str:
    shape, *rest = spec.split(":")
    size = tuple(int(n) for n in shape.split(",") if n)
    dtype = rest[0] if rest else "float32"
    if dtype.startswith(("int", "uint")):
        low, high = (rest[1], rest[2]) if len(rest) > 2 else ("0", "5")
        return f"torch.tensor(rng.integers({low}, {high}, {size}).astype('{dtype}'))"
    if dtype == "bool":
        return f"torch.tensor(rng.integers(0, 2, {size}).astype('bool'))"
    return f"torch.tensor(rng.standard_normal({size}).astype('{dtype}'))"


def _function_driver(specs: list[str], grad: bool) -> str:
    names = [f"a{i}" for i in range(len(specs))]
    made = [f"    {n} = {_drawn(i, s)}" for i, (n, s) in enumerate(zip(names, specs, strict=True))]
    lines = ["", "", "def run():", "    rng = np.random.default_rng(0)", *made]
    lines += [f"    return f({', '.join(names)}), {', '.join(names)}", ""]
    return "\n".join(lines)


def _network_driver(specs: list[str], grad: bool) -> str:
    names = [f"a{i}" for i in range(len(specs))]
    made = [f"    {n} = {_drawn(i, s)}" for i, (n, s) in enumerate(zip(names, specs, strict=True))]
    args = ", ".join(names)
    net = ["", "", "class Net(nn.Module):", "    def __init__(self):", "        super().__init__()"]
    net += ["        self.scale = nn.Parameter(torch.full((1,), 1.5))", ""]
    first = f"{names[0]} * self.scale" if grad else names[0]
    call = ", ".join([first, *names[1:]])
    net += [f"    def forward(self, {args}):", f"        return f({call})", "", ""]
    net += ["def run():", "    rng = np.random.default_rng(0)", *made, "    net = Net()"]
    if not grad:
        return "\n".join([*net, f"    return net({args}), {args}", ""])
    net += [f"    out = net({args})", "    loss = (out * out).sum()", "    loss.backward()"]
    return "\n".join([*net, "    return out.detach(), loss.item(), net.scale.grad", ""])
