"""How many processes a command line may ask for."""

from __future__ import annotations

import argparse

_MOST = 64


def process_count(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or not 1 <= int(text) <= _MOST:
        reason = f"{text!r} is not a number of processes from 1 to {_MOST}"
        raise argparse.ArgumentTypeError(reason)
    return int(text)
