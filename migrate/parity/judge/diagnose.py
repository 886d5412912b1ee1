"""Put the finding into words: where, what, how sure, and what usually causes it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from migrate.parity.judge import emitted, hints, provenance
from migrate.parity.judge.compare import Comparison, Layer, Row
from migrate.parity.judge.isolate import Result
from migrate.parity.judge.localize import Suspect, unfinished_suspect
from migrate.parity.judge.statements import Parting
from migrate.parity.request import target
from migrate.parity.workers.statements import RESULT
from migrate.parity.workers.structure import Place


@dataclass
class Diagnosis:
    """One paragraph, and the facts it is made of."""

    stage: str
    path: str
    other_path: str
    kind: str
    sentence: str
    confirmed: bool
    torch: str = ""
    mindspore: str = ""
    torch_place: str = ""
    mindspore_place: str = ""
    # The statements at which the values part, where the difference is made in a module's own code.
    torch_statement: str = ""
    mindspore_statement: str = ""
    hints: list[str] = field(default_factory=list)
    # The row of the mapping table behind the torch line, and what the porter writes for it.
    row: str = ""
    emitted: str = ""
    as_ported: bool = False
    innocent: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        parts = [self.sentence]
        for side, statement, layer, place in (
            ("torch", self.torch_statement, self.torch, self.torch_place),
            ("MindSpore", self.mindspore_statement, self.mindspore, self.mindspore_place),
        ):
            shown = f"`{statement}`" if statement else layer
            if shown:
                parts.append(f"{side}: {shown}{f' at {place}' if place else ''}.")
        parts.extend(self.hints)
        origin = provenance.Origin(self.row, self.emitted, self.as_ported).sentence
        if origin:
            parts.append(origin)
        if self.innocent:
            parts.append(f"These agree when run alone: {', '.join(self.innocent)}.")
        return " ".join(parts)


def diagnose(
    bad: Comparison, watched: Comparison, suspects: list[Suspect], results: list[Result]
) -> Diagnosis:
    """Say what the first failing stage means."""
    stage = bad.first_stage
    if stage == "weights":
        found = _weights(bad)
        # Parameters that are missing or of another shape are no matter of what a row writes.
        return replace(found, emitted="", as_ported=False)
    if stage == "randomness":
        row = bad.failed(stage)[0]
        return _at(
            watched, row.name, stage, "randomness", f"{row.name} {row.judgement.problem}.", True
        )
    if watched is not bad and watched.ok:
        return _one_mode(bad, watched)
    if suspects and (stage in _OF_LAYERS or bad.error is not None):
        guilty = next((result for result in results if result.guilty), None)
        suspect = guilty.suspect if guilty else suspects[0]
        innocent = [r.suspect.layer.name for r in results if not r.guilty]
        return _layer(bad, watched, suspect, guilty, innocent, bool(results))
    if bad.error is not None:
        return _stopped(bad)
    return _without_suspect(bad, watched, stage)


_OF_LAYERS = ("inputs", "layers", "outputs", "gradients")


def _without_suspect(bad: Comparison, watched: Comparison, stage: str) -> Diagnosis:
    """No layer is to blame: the loss, the optimizer, the buffers, or who knows."""
    if stage in ("loss", "gradients"):
        return _loss(bad, stage)
    if stage in ("updates", "curve"):
        return _update(bad, stage)
    if stage == "buffers":
        return _buffers(bad, watched)
    row = bad.failed(stage)[0]
    found = Diagnosis(
        stage, "", "", "values", f"In stage {stage}, {row.name} {row.judgement.problem}.", False
    )
    if bad.mode == "graph" and not watched.layers:
        found.hints.append("A graph shows no layers: check in PyNative mode to find the one.")
    return found


def _one_mode(bad: Comparison, watched: Comparison) -> Diagnosis:
    """The same code, right in one mode and wrong in the other: the compiler's reading of it
    differs.
    """
    if bad.error is not None:
        found = _stopped(bad)
        found.sentence = f"Only {bad.mode} mode fails; {watched.mode} agrees. {found.sentence}"
        return found
    row = bad.failed(bad.first_stage)[0]
    sentence = (
        f"Only {bad.mode} mode differs; {watched.mode} agrees. First in stage {bad.first_stage}: "
        f"{row.name} {row.judgement.problem}."
    )
    return Diagnosis(bad.first_stage, "", "", "mode", sentence, True)


def _layer(
    bad: Comparison,
    watched: Comparison,
    suspect: Suspect,
    guilty: Result | None,
    innocent: list[str],
    tried: bool,
) -> Diagnosis:
    layer = suspect.layer
    sentence = _sentence(suspect)
    if guilty is not None:
        sentence += " Confirmed: run alone on torch's own tensors, it still differs."
    elif tried:
        sentence += (
            " Run alone on torch's tensors it agrees, so the cause is in how its inputs are "
            "computed."
        )
    stage = "layers" if suspect.direction == "forward" else "gradients"
    kind = "own code" if suspect.own_code else "layer"
    found = _at(watched, layer.path, stage, kind, sentence, guilty is not None)
    if suspect.own_code:
        parting = guilty.parting if guilty is not None else None
        if parting is not None:
            _place_statement(found, parting)
        else:
            _place_code(found, watched, suspect)
    if suspect.direction == "backward":
        found.kind = f"backward of {found.kind}"
    found.innocent = innocent
    if bad.error is not None:
        found.hints.append(
            f"MindSpore then stops in {bad.stopped_in or 'the model'}: {bad.error['what']}"
        )
    return found


def _sentence(suspect: Suspect) -> str:
    """What is wrong, and where."""
    layer = suspect.layer
    direction = "output" if suspect.direction == "forward" else "gradient"
    judgement = layer.worst if suspect.direction == "forward" else _worst_slope(layer)
    differs = f"its {direction} {judgement.problem or 'differs'}."
    if suspect.own_code:
        return f"{_in_own_code(suspect)}; {differs}"
    agrees = "inputs agree" if direction == "output" else "upstream gradient agrees"
    return f"The first difference is in {layer.name}: its {agrees}, {differs}"


def _in_own_code(suspect: Suspect) -> str:
    """The difference is made between the submodules' calls."""
    whose = suspect.layer.name if suspect.layer.path else "the model"
    gradient = "" if suspect.direction == "forward" else ", as its gradient shows"
    sentence = (
        f"The first difference is in construct of {whose} itself{gradient}, not in a submodule"
    )
    if suspect.after is None and suspect.before is None:
        return sentence
    after = f"after {suspect.after.name}" if suspect.after else "before any submodule"
    before = f" and before {suspect.before.name}" if suspect.before else ""
    return f"{sentence}: {after}{before}"


def _place_statement(found: Diagnosis, parting: Parting) -> None:
    """The statement at which the values part, on both sides."""
    ours, theirs = parting.torch, parting.mindspore
    what = "the result" if parting.name.startswith(RESULT) else f"`{parting.name}`"
    found.torch_statement = ours.text
    found.torch_place = str(Place(ours.file, ours.line))
    again = f" in its run {parting.earlier + 1}" if parting.earlier else ""
    said = f"The first value that differs is {what}, which this statement gives{again}"
    if theirs is not None:
        found.mindspore_statement = theirs.text
        here = Place(theirs.file, theirs.line)
        since = Place(parting.since.file, parting.since.line) if parting.since else here
        found.mindspore_place = _between(since, here, None)
        said += f": it {parting.problem}" if parting.problem else ""
    else:
        said += "; no statement of construct gives one of its shape"
    found.hints.insert(0, f"{said}.")
    _explain(found, provenance.of_statement(ours, theirs))


def _place_code(found: Diagnosis, watched: Comparison, suspect: Suspect) -> None:
    """The lines of the module's own code between which the difference is made."""
    layer = suspect.layer
    ours, theirs = watched.modules[layer.path], watched.other_modules[layer.other_path]
    after, before = suspect.after, suspect.before
    found.torch_place = _between(
        after.called if after else None, before.called if before else None, ours.forward
    )
    found.mindspore_place = _between(
        after.other_called if after else None,
        before.other_called if before else None,
        theirs.forward,
    )
    first = after.called if after is not None else ours.forward
    last = before.called if before is not None else None
    # Several lines are no advice for one: only the rows of what they call are shown.
    _explain(found, replace(provenance.of_code(first, last, theirs.forward), emitted=""))


def _between(first: Place | None, last: Place | None, whole: Place | None) -> str:
    """Lines from one call to another, as far as they are known, in the function that makes them."""
    if first is not None and last is not None and first.file == last.file:
        if first.line < last.line:
            return f"{first} to line {last.line}"
        return str(last)
    known = first or last
    return str(known or whole or "")


def _worst_slope(layer: Layer) -> hints.Judgement:
    slopes = [slope for slope in layer.input_slopes if not slope.ok]
    return (
        max(slopes, key=lambda j: j.ratio)
        if slopes
        else hints.Judgement(False, 0.0, "is wrong for its parameters")
    )


def _at(
    watched: Comparison, path: str, stage: str, kind: str, sentence: str, confirmed: bool
) -> Diagnosis:
    ours = watched.modules.get(path)
    other_path = watched.matching["modules"].get(path, "")
    theirs = watched.other_modules.get(other_path)
    found = Diagnosis(
        stage,
        path,
        other_path,
        kind,
        sentence,
        confirmed,
        torch=str(ours) if ours else "",
        mindspore=str(theirs) if theirs else "",
        torch_place=str(ours.created or ours.forward or "") if ours else "",
        mindspore_place=str(theirs.created or theirs.forward or "") if theirs else "",
        hints=hints.for_layer(ours, theirs) if ours and theirs else [],
    )
    if ours is not None:
        origin = provenance.of_layer(ours, theirs)
        # The same line may be given other numbers: then it is not the line that is wrong.
        _explain(found, replace(origin, as_ported=origin.as_ported and not found.hints))
    return found


def compare_calls(found: Diagnosis, torch: str, mindspore: str) -> None:
    """Say it if the two models were asked for with different arguments."""
    said = target.difference(torch, mindspore)
    if said:
        found.hints.insert(0, said)
        found.as_ported, found.emitted = False, ""


def point_at_functions(found: Diagnosis, torch: str, mindspore: str) -> None:
    """Add the lines of the user's own loss or optimizer, given as targets."""
    ours, theirs = target.parse(torch), target.parse(mindspore)
    here, there = emitted.function_place(ours), emitted.function_place(theirs)
    found.torch, found.mindspore = f"{ours.name}()", f"{theirs.name}()"
    found.torch_place = str(here) if here else ours.where
    found.mindspore_place = str(there) if there else theirs.where
    if here is not None:
        _explain(found, provenance.of_function(here, there))


def _explain(found: Diagnosis, origin: provenance.Origin) -> None:
    found.row, found.emitted, found.as_ported = origin.row, origin.emitted, origin.as_ported


def _weights(bad: Comparison) -> Diagnosis:
    rows = bad.failed("weights")
    named = "; ".join(f"{row.name} {row.judgement.problem}" for row in rows[:12])
    more = f"; and {len(rows) - 12} more" if len(rows) > 12 else ""
    path = (
        rows[0]
        .name.removeprefix("torch ")
        .removeprefix("mindspore ")
        .split(" ")[0]
        .rpartition(".")[0]
    )
    found = _at(
        bad, path, "weights", "weights", f"The parameters do not correspond: {named}{more}.", True
    )
    found.hints.append(
        "If they are only named differently, give the names with --map FILE (lines of torch "
        "= mindspore)."
    )
    return found


def _stopped(bad: Comparison) -> Diagnosis:
    assert bad.error is not None
    suspect = unfinished_suspect(bad)
    sentence = (
        f"MindSpore stopped in {bad.stopped_in or 'the model'} ({bad.mode} mode): "
        f"{bad.error['what'].rstrip('.')}."
    )
    if suspect is not None and suspect.before is not None:
        return _stopped_behind(bad, sentence, suspect.after, suspect.before)
    found = _at(bad, _path_of(bad, bad.stopped_in), "layers", "error", sentence, False)
    found.mindspore_place = bad.error["where"] or found.mindspore_place
    found.hints += bad.advice
    return found


def _stopped_behind(bad: Comparison, stopped: str, after: Layer | None, before: Layer) -> Diagnosis:
    """A layer was given something else than torch's: the code in front of it is to blame."""
    since = f" after {after.name}" if after else ""
    sentence = (
        f"{stopped} The input of {before.name} already differs, so the cause lies in the "
        f"code{since} before it."
    )
    found = _at(bad, before.path.rpartition(".")[0], "layers", "own code", sentence, False)
    first = after.called if after else None
    found.torch_place = _between(first, before.called, None)
    found.mindspore_place = _between(
        after.other_called if after else None, before.other_called, None
    )
    theirs = bad.other_modules.get(found.other_path)
    origin = provenance.of_code(first, before.called, theirs.forward if theirs else None)
    _explain(found, replace(origin, emitted=""))
    return found


def _path_of(bad: Comparison, other: str) -> str:
    return next((ours for ours, theirs in bad.matching["modules"].items() if theirs == other), "")


def _loss(bad: Comparison, stage: str) -> Diagnosis:
    row = bad.failed(stage)[0]
    what = "its value" if stage == "loss" else "its gradient"
    sentence = f"The outputs agree and the loss function does not: {what} {row.judgement.problem}."
    found = Diagnosis(stage, "", "", "loss", sentence, False)
    found.hints = hints.for_loss(bad)
    return found


def _update(bad: Comparison, stage: str) -> Diagnosis:
    rows = bad.failed(stage)
    what = (
        "The gradients agree and the optimizer's update does not, for"
        if stage == "updates"
        else "The first step agrees and the later ones do not, in"
    )
    sentence = f"{what} {_some(rows)}: {rows[0].judgement.problem}."
    found = Diagnosis(stage, "", "", "optimizer", sentence, True)
    found.hints = hints.for_update(bad, stage)
    return found


def _buffers(bad: Comparison, watched: Comparison) -> Diagnosis:
    rows = bad.failed("buffers")
    path = rows[0].name.rpartition(".")[0]
    sentence = (
        f"Outputs and gradients agree; the running statistics do not, in {_some(rows)}: "
        f"{rows[0].judgement.problem}."
    )
    found = _at(watched, path, "buffers", "buffers", sentence, True)
    found.hints += hints.for_buffers(rows)
    return found


def _some(rows: list[Row]) -> str:
    names = ", ".join(row.name for row in rows[:4])
    return f"{names} and {len(rows) - 4} more" if len(rows) > 4 else names
