"""Calls that set up torch itself have no effect in MindSpore and go away."""

from __future__ import annotations

from migrate.rewrite.calls.call import Call
from migrate.rewrite.rules import becomes, rule


@rule(becomes("torchvision.utils._log_api_usage_once(self)\ny = x + 1", "y = x + 1"))
def remove_statement(call: Call) -> None:
    call.emit = call.emit or "None"
