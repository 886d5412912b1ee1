"""What a person must do, once for all places where it is due, the most frequent first."""

from __future__ import annotations

from migrate.analyze.model import Action, Sign, Use
from migrate.findings import CODES, SEVERITIES, chosen_step
from migrate.table import Entry, Table

_LEARN = "look for it in MindSpore's API list, and add a row (docs/adding_a_mapping.md)"
_REWRITE = "compute it with operators that MindSpore has, or leave it out"
_PROVE = "port it, then let `ms-migrate parity` compare the two"
_SAME_NAME = "the port leaves them as they are"
_ANNOTATE = "annotate the value (`x: torch.Tensor`) to have them ported as methods of a tensor"
_BY_HAND = "write this call by hand"
_DRY_RUN = "let `ms-migrate preflight` try the ported program"
_CHECK = "check the call against torch's documentation"


class Actions:
    """Collects reasons and joins those that ask for the same thing."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._found: dict[tuple[str, str, str], Action] = {}

    def of_use(self, use: Use) -> None:
        if use.advice:
            self._add("MS308", use.api, use.advice, "", use)
        if use.note:
            self._add("MS318", use.api, use.note, _DRY_RUN, use)
        if not use.code:
            return
        if use.code == "MS307":
            # One line for all of them: the cure is the same, and most need none.
            name = "tensor methods on values of unknown type"
            self._add(use.code, name, _SAME_NAME, _ANNOTATE, use)
            return
        entry = self._table.get(use.api)
        self._add(use.code, use.api, use.problem, _step(use.code, entry, use.api), use)

    def of_sign(self, sign: Sign) -> None:
        if sign.severity == "note":
            return  # counted in the feature table; it asks for nothing by itself
        key = sign.code, sign.what, sign.message
        action = self._found.get(key)
        if action is None:
            action = self._found[key] = Action(
                sign.code, sign.what, sign.message, sign.next_step, sign.severity, mode=sign.mode
            )
        action.places.append(sign.place)

    def _add(self, code: str, title: str, why: str, step: str, use: Use) -> None:
        action = self._found.get((code, title, why))
        if action is None:
            api = use.api if title == use.api else ""
            severity = CODES[code].severity
            action = Action(code, title, why, step, severity, api=api)
            self._found[code, title, why] = action
        action.places.append(use.place)

    def in_order(self) -> list[Action]:
        """Notes last; before them, what is used most often comes first."""
        return sorted(
            self._found.values(),
            key=lambda a: (a.severity == SEVERITIES[-1], -a.count, a.title, a.why),
        )


def _step(code: str, entry: Entry | None, api: str) -> str:
    if entry is not None and entry.way:
        return entry.way
    if code == "MS311":
        return chosen_step(api)
    return _STEPS.get(code, _REWRITE)


_STEPS = {
    "MS302": _PROVE,
    "MS303": _LEARN,
    "MS304": "keep this part on a device that has it, or compute it otherwise",
    "MS305": "call it outside the compiled network, or use the other mode",
    "MS306": _BY_HAND,
    "MS309": _CHECK,
    "MS310": _ANNOTATE,
}
