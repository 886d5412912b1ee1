"""Two torch processes as one group, formed on this machine alone: no host name is looked up.

python tests/torch_group.py PROGRAM ARGUMENTS...   what each process of the group runs
"""

from __future__ import annotations

import os
import runpy
import socket
import subprocess
import sys
from pathlib import Path

LIMIT = 900  # seconds: a group that cannot form ends, one on a busy machine does not
TRIES = 3
# A port is free when it is asked for and may be another program's when the group binds it.
PORT_TAKEN = ("EADDRINUSE", "Address already in use", "address already in use")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def run_two(program: Path | str, *arguments: object, cwd: Path) -> str:
    """What a program prints under torchrun with two processes; its errors if it fails."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    for _ in range(TRIES):
        done = subprocess.run(
            [
                *(sys.executable, "-m", "torch.distributed.run", "--nproc_per_node=2"),
                *("--master_addr=127.0.0.1", f"--master_port={free_port()}", "--"),
                *map(str, (Path(__file__).resolve(), program, *arguments)),
            ],
            cwd=cwd,
            env=environment,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=LIMIT,
            check=False,
        )
        if not any(sign in done.stderr for sign in PORT_TAKEN):
            break
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return done.stdout


def main(program: str) -> None:
    """Run a program and leave at once: torch's threads now and then abort a process that is
    taken down on a busy machine, with all its work done.
    """
    sys.argv = sys.argv[1:]
    sys.path[0] = str(Path(program).resolve().parent)
    runpy.run_path(program, run_name="__main__")
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1])
