"""`ms-migrate completion bash`: the code with which a shell completes our commands."""

from __future__ import annotations

import argparse
import sys

SHELLS = ("bash", "zsh", "fish", "tcsh", "powershell")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help=", ".join(SHELLS))


def run(options: argparse.Namespace) -> int:
    """Print the shell's code; `eval` it, or append it to the shell's start file."""
    from argcomplete.shell_integration import shellcode

    code = shellcode(["ms-migrate"], shell=options.shell)
    sys.stdout.write(code if code.endswith("\n") else code + "\n")
    return 0
