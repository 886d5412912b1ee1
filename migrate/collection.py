"""Garbage collection between files: while a file's trees are in use, nothing in them is garbage."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_collection_in_process() -> Iterator[None]:
    """For a process that reads trees and ends: what it leaves is not looked through, now or at
    exit.
    """
    with no_collection():
        try:
            yield
        finally:
            gc.freeze()


@contextmanager
def no_collection() -> Iterator[None]:
    """Python would look through the growing trees again and again, and find nothing.

    What goes out of use meanwhile is freed all the same, unless it is part of a circle; circles
    wait until the work in hand is done.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
