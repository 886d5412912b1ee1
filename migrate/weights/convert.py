"""Read in one worker, rename here, write in another; no framework is imported in this process."""

from __future__ import annotations

import ast
import json
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from migrate.errors import RequestError, describe
from migrate.files.atomic import publish, staging_directory
from migrate.files.checkpoint_states import common_prefix
from migrate.parity.request import target
from migrate.parity.request.options import read_renames
from migrate.parity.workers import structure, worker
from migrate.syntax.ast_index import nodes_of
from migrate.weights import blobs, by_model, naming, shards
from migrate.weights.blobs import Blob

_SAFE = ".safetensors"
_COUNTERS = "num_batches_tracked"


@dataclass(frozen=True)
class Conversion:
    """What to convert, and how."""

    source: Path
    destination: Path
    origin: str
    goal: str
    model: str
    key: str
    map: str | None
    keep_prefix: bool
    keep_counters: bool
    pythons: dict[str, str]
    timeout: float
    whole: bool = False  # everything that a training checkpoint holds
    force: bool = False  # files beside the destination may be overwritten, too


@dataclass
class Outcome:
    """What was done."""

    origin: str
    goal: str
    count: int
    notes: list[str] = field(default_factory=list)


def convert(what: Conversion, folder: Path) -> Outcome:
    """Convert one checkpoint."""
    notes: list[str] = []
    if what.whole:
        return _convert_whole(what, folder)
    tensors, counters, names = _read(what, folder, notes)
    if not tensors:
        raise RequestError(
            "holds no tensors", where=str(what.source), next_step="save the model's state again"
        )
    origin = what.origin or guess_framework(tensors, str(what.source))
    goal = what.goal or ("mindspore" if origin == "torch" else "torch")
    if not what.keep_prefix and origin == "torch":
        prefix = common_prefix(tensors)
        if prefix:
            notes.append(f"the wrapping {prefix!r} was taken off every name")
            tensors = {name.removeprefix(prefix): blob for name, blob in tensors.items()}
    spoken = names or origin  # a ported program saves under torch's names
    if spoken != goal:
        tensors, counters = _rename(what, folder, tensors, counters, spoken, goal, notes)
    elif names:
        tensors |= _counters(tensors, counters)
    _write(what, folder, tensors, counters, goal)
    return Outcome(origin, goal, len(tensors), notes)


def guess_framework(tensors: dict[str, Blob], where: str) -> str:
    """Whose names are these? Norms give it away; without any, the user must say."""
    locals_ = {name.rpartition(".")[2] for name in tensors}
    theirs = locals_ & {"gamma", "beta", "moving_mean", "moving_variance", "embedding_table"}
    ours = locals_ & {"running_mean", "running_var", _COUNTERS}
    norms = any(len(blob.shape) == 1 for name, blob in tensors.items() if name.endswith("weight"))
    if theirs and not ours:
        return "mindspore"
    if ours or norms:
        return "torch"
    raise RequestError(
        "its names do not tell whether torch or MindSpore wrote it",
        where=where,
        next_step="say so with --from torch or --from mindspore",
    )


def _convert_whole(what: Conversion, folder: Path) -> Outcome:
    """Model, optimizer, schedule, counters: what a ported program resumes from, or torch."""
    said = _run_reader(what, folder)
    if "structure" not in said:
        raise RequestError(
            "holds only a model: it was not saved by a ported program",
            where=str(what.source),
            next_step="convert it without --whole",
        )
    tensors = blobs.read(folder / "read.safetensors")[0]
    goal = what.goal or ("mindspore" if what.origin == "torch" else "torch")
    _write(what, folder, tensors, {}, goal, said["structure"])
    return Outcome(what.origin, goal, len(tensors))


def _read(
    what: Conversion, folder: Path, notes: list[str]
) -> tuple[dict[str, Blob], dict[str, int], str]:
    if what.source.suffix == _SAFE:
        tensors, metadata = blobs.read(what.source)
        return tensors, _kept_counters(metadata.get(_COUNTERS, "{}")), ""
    if what.source.name.endswith(shards.SAFE_INDEX):
        return shards.read(what.source, lambda path: blobs.read(path)[0]), {}, ""
    if what.source.name.endswith(shards.TORCH_INDEX):
        return shards.read(what.source, lambda path: _read_shard(what, path, folder)), {}, ""
    said = _run_reader(what, folder)
    if said["place"]:
        notes.append(
            f"the model was found under {said['place']!r}; "
            f"left out: {', '.join(said['beside']) or 'nothing'}"
            f"{' (--whole takes everything)' if said['beside'] else ''}"
        )
    if said["left"]:
        notes.append(f"left out, since they are not tensors: {', '.join(said['left'][:10])}")
    notes.extend(
        f"tied, and written once for each name: {', '.join(names)}" for names in said["tied"]
    )
    return blobs.read(folder / "read.safetensors")[0], {}, said.get("names", "")


def _read_shard(what: Conversion, path: Path, folder: Path) -> dict[str, Blob]:
    _run_reader(replace(what, source=path, key=""), folder)
    return blobs.read(folder / "read.safetensors")[0]


def _run_reader(what: Conversion, folder: Path) -> dict[str, Any]:
    pending, info = folder / "read.safetensors", folder / "read.json"
    job = {
        "action": f"{what.origin}-weights",
        "do": "read",
        "source": str(what.source),
        "key": what.key,
        "whole": what.whole,
        "tensors": str(pending),
        "info": str(info),
    }
    _work(what, what.origin, job, folder / "reader")
    said: dict[str, Any] = json.loads(info.read_text(encoding="utf-8"))
    return said


def _kept_counters(text: str) -> dict[str, int]:
    """Counts that an earlier conversion put into the metadata; anyone may have written there."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {
        name: count
        for name, count in found.items()
        if type(count) is int and -(2**63) <= count < 2**63
    }


def _rename(
    what: Conversion,
    folder: Path,
    tensors: dict[str, Blob],
    counters: dict[str, int],
    origin: str,
    goal: str,
    notes: list[str],
) -> tuple[dict[str, Blob], dict[str, int]]:
    shapes = {name: blob.shape for name, blob in tensors.items()}
    renames = read_renames(what.map)
    if what.model:
        framework, modules = _structure(what, folder)
        if framework == "torch":
            renaming = by_model.with_torch_model(modules, shapes, to_mindspore=goal == "mindspore")
        else:
            renaming = by_model.with_mindspore_model(
                modules, shapes, renames, to_mindspore=goal == "mindspore"
            )
    else:
        renaming = naming.to_mindspore(shapes) if goal == "mindspore" else naming.to_torch(shapes)
    _settle(renaming, renames, goal, str(what.source), what.map or "")
    notes.extend(renaming.notes)
    result = {
        new: tensors[name].reshaped(renaming.shapes[name]) for name, new in renaming.names.items()
    }
    if len(result) != len(renaming.names):
        raise RequestError(
            "two tensors would get one name", where=str(what.source), next_step="give --model"
        )
    for name in renaming.dropped:
        counters[name] = int.from_bytes(tensors[name].data[:8], "little", signed=True)
        if what.keep_counters:
            result[name] = tensors[name]
    if goal == "torch":
        result |= _counters(result, counters)
    elif counters and not what.keep_counters and what.destination.suffix != _SAFE:
        notes.append(
            f"{len(counters)} {_COUNTERS} left out: MindSpore has no such counter "
            "(--keep-counters keeps them)"
        )
    return result, counters


def _settle(
    renaming: naming.Renaming, renames: dict[str, str], goal: str, where: str, map_file: str
) -> None:
    """A map decides what shapes cannot; what stays undecided is refused, not guessed."""
    direct = renames if goal == "mindspore" else {theirs: ours for ours, theirs in renames.items()}
    for name, new in direct.items():
        if name in renaming.names:
            renaming.names[name] = new
            renaming.undecided.pop(name, None)
            continue
        # A line may name a whole module: what is below it keeps its own end of the name.
        inside = [known for known in renaming.names if known.startswith(f"{name}.")]
        for known in inside:
            renaming.names[known] = f"{new}.{renaming.names[known].removeprefix(f'{name}.')}"
        if not inside and name not in renaming.names.values():
            raise RequestError(f"names {name}, which is not in {Path(where).name}", where=map_file)
    if renaming.undecided:
        named = "\n".join(
            f"    {name}: {doubt}" for name, doubt in list(renaming.undecided.items())[:12]
        )
        raise RequestError(
            f"names and shapes do not decide what these are:\n{named}",
            where=where,
            next_step="give the model with --model file.py:callable, or the names with --map FILE",
        )


def _counters(tensors: dict[str, Blob], known: dict[str, int]) -> dict[str, Blob]:
    """torch's batch norms count batches; give the count back, or zero where it was not kept."""
    names = [
        f"{n.removesuffix('running_mean')}{_COUNTERS}"
        for n in tensors
        if n.endswith("running_mean")
    ]
    return {
        name: Blob("I64", (), known.get(name, 0).to_bytes(8, "little", signed=True))
        for name in names
        if name not in tensors
    }


def _write(
    what: Conversion,
    folder: Path,
    tensors: dict[str, Blob],
    counters: dict[str, int],
    goal: str,
    described: Any = None,
) -> None:
    sharded = what.destination.name.endswith(shards.SAFE_INDEX)
    if what.destination.suffix == _SAFE or sharded:
        metadata = {"format": "pt" if goal == "torch" else "np"}
        if counters and goal == "mindspore":
            metadata[_COUNTERS] = json.dumps(counters)
        if sharded:
            shards.write(what.destination, tensors, metadata, force=what.force)
        else:
            blobs.write(what.destination, tensors, metadata)
        return
    pending = folder / "write.safetensors"
    blobs.write(pending, tensors)
    with staging_directory(what.destination) as staging:
        written = staging / what.destination.name
        job = {
            "action": f"{goal}-weights",
            "do": "write",
            "tensors": str(pending),
            "target": str(written),
        }
        if described is not None:
            job["structure"] = described
        _work(what, goal, job, folder / "writer")
        publish(written, what.destination)


def _structure(what: Conversion, folder: Path) -> tuple[str, list[structure.ModuleInfo]]:
    found = target.parse(what.model)
    framework = model_framework(found)
    info = folder / "structure.json"
    job = {
        "action": f"{framework}-weights",
        "do": "structure",
        "model": what.model,
        "info": str(info),
    }
    _work(what, framework, job, folder / "builder")
    data: dict[str, Any] = json.loads(info.read_text(encoding="utf-8"))
    return framework, [structure.from_json(module) for module in data["modules"]]


def model_framework(found: target.Target) -> str:
    """Which framework a model is written in, by what its file imports; the file is read, not
    run.
    """
    path = Path(found.where) if found.is_file else _module_file(found.where)
    if path is not None:
        try:
            tree = ast.parse(path.read_bytes())
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise RequestError(f"cannot be read ({describe(error)})", where=str(path)) from None
        for node in nodes_of(tree, ast.Import, ast.ImportFrom):
            names = [alias.name for alias in node.names]
            if isinstance(node, ast.ImportFrom):
                names = [] if node.level else [node.module or ""]
            if any(name.split(".")[0] == "mindspore" for name in names):
                return "mindspore"
    return "torch"


def _module_file(module: str) -> Path | None:
    relative = Path(*module.split("."))
    for entry in ("", *sys.path):
        for candidate in (relative.with_suffix(".py"), relative / "__init__.py"):
            if (Path(entry) / candidate).is_file():
                return Path(entry) / candidate
    return None


def _work(what: Conversion, framework: str, job: dict[str, Any], folder: Path) -> None:
    name = "torch" if framework == "torch" else "MindSpore"
    python = what.pythons[framework]
    worker.finish([worker.start(name, job, folder, python=python, timeout=what.timeout)])
