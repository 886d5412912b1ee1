"""The choice applied to an analysis: actions lose the places that do not count."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from migrate.analyze.model import Action, Analysis, Place
from migrate.explain.languages import told, translated
from migrate.selection.choose import Chooser, Spot


def translate_actions(analysis: Analysis, language: str) -> None:
    """What is due and why in another language; names and particulars follow as they are."""
    known = told(language)
    for action in analysis.actions:
        if action.code in known:
            action.why = f"{known[action.code].summary} ({action.why})"
            action.step = known[action.code].do + (f" ({action.step})" if action.step else "")
    analysis.skipped = translated(analysis.skipped, language)


def chosen_actions(analysis: Analysis, chooser: Chooser) -> None:
    """Leave in the analysis what counts. Totals and shares stay: they are facts of the program."""
    actions = []
    for action in analysis.actions:
        places = [
            place
            for place in action.places
            if chooser.counts(Spot(Path(place.path), place.line, place.cell, action.code))
        ]
        if places:
            actions.append(_with_places(action, places))
    analysis.actions = actions
    analysis.skipped = chooser.findings(analysis.skipped)
    if analysis.coverage is not None:
        opened = sum(action.count for action in actions if action.open)
        analysis.open_items = opened + len(analysis.skipped)
    analysis.hidden = str(chooser.hidden)


def _with_places(action: Action, places: list[Place]) -> Action:
    return replace(action, places=places)
