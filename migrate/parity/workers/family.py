"""A worker and every process that it starts: watched, limited and ended together.

User code may fork, start subprocesses, or detach them into sessions of their own. The processes of
a worker are those below its supervisor, those of its process group, and those with a token in the
environment, which is inherited.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

TOKEN = "MS_MIGRATE_WORKER"  # the environment variable
_ROUNDS = 20  # a process that forks while its family is ended is met again


def end_family(leader: int, token: str, *, reaped: bool) -> None:
    """Kill what is below a worker's supervisor, its process group, and whatever has left both."""
    if not reaped:
        end_descendants(leader)
    for _ in range(_ROUNDS):
        # A number that was given to another process since is not our group's any more.
        if not reaped or not os.path.exists(f"/proc/{leader}"):
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(leader, signal.SIGKILL)
        found = list(members(token))
        for pid in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if not found:
            return


def end_descendants(top: int) -> None:
    """Kill every process below this one, which stays."""
    for _ in range(_ROUNDS):
        found = [pid for pid in descendants(top) if not _is_zombie(pid)]
        for pid in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if not found:
            return


def descendants(top: int) -> list[int]:
    """All processes below one, parents first."""
    children: dict[int, list[int]] = {}
    for pid in _processes():
        with suppress(OSError, IndexError, ValueError):
            words = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
            children.setdefault(int(words[1]), []).append(pid)
    found = list(children.get(top, []))
    for pid in found:  # grows while it is read
        found += children.get(pid, [])
    return found


def first_child(pid: int) -> int:
    """The oldest child of a process; 0 where there is none, or it is not told."""
    with suppress(OSError, IndexError, ValueError):
        return int(Path(f"/proc/{pid}/task/{pid}/children").read_bytes().split()[0])
    return 0


def members(token: str) -> Iterator[int]:
    """The living processes that carry a token, but for this one; none where /proc is not told."""
    wanted = f"{TOKEN}={token}".encode()
    for entry in _processes():
        with suppress(OSError):
            carried = Path(f"/proc/{entry}/environ").read_bytes().split(b"\0")
            if wanted in carried and entry != os.getpid() and not _is_zombie(entry):
                yield entry


def _processes() -> list[int]:
    with suppress(OSError):
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    return []


def _is_zombie(pid: int) -> bool:
    with suppress(OSError, IndexError):
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] == b"Z"
    return True


def resident_bytes(pid: int, field: str = "VmRSS:") -> int:
    """A process's memory as Linux tells it; 0 where it is not told."""
    with suppress(OSError, ValueError):
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
        for line in status.splitlines():
            if line.startswith(field):
                return int(line.split()[1]) * 1024
    return 0


def physical_bytes() -> int:
    """The memory of the machine, or of the container that this process is limited to."""
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    with suppress(OSError, ValueError):
        total = min(total, int(Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii")))
    return total
