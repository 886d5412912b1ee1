"""The tools: each runs our own command in a process of its own and gives its JSON document.

Standard output belongs to the protocol, and parity runs user code: neither may be shared with the
server.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from mcp.server import MCPServer

INSTRUCTIONS = (
    "Move PyTorch programs to MindSpore: `analyze` a path, `port_diff` to see the rewrite, `port` "
    "to write it, then `parity` to prove that one training step computes the same. Every finding "
    "has a code that `explain` explains; `lookup` tells what MindSpore has for a torch API."
)
# What a tool gives back: the JSON envelope that docs/json_schema.md describes.
Document = dict[str, Any]


def make_server(timeout: float) -> MCPServer:
    """The server with its tools."""
    server = MCPServer("ms-migrate", instructions=INSTRUCTIONS)

    def command(*words: str) -> Document:
        return run_command(words, timeout)

    def analyze(path: str, device: str = "", mode: str = "both") -> Document:
        """Which torch APIs a file or folder uses, what ports, what is open, on what assumptions.
        device: CPU, GPU or Ascend; mode: pynative, graph or both.
        """
        return command("analyze", path, "--mode", mode, *(["--device", device] if device else []))

    def lookup(name: str) -> Document:
        """What MindSpore has for a torch API (torch.nn.Conv2d), arguments side by side."""
        return command("lookup", name)

    def explain(code: str) -> Document:
        """What the code of a finding (MS307) means and what to do about it."""
        return command("explain", code)

    def port_diff(path: str, target: str = "nn") -> dict[str, Any]:
        """The port of a file or folder as a unified diff; nothing is written. target: nn, mint or
        torch-npu.
        """
        words = ["port", path, "--diff", "--target", target]
        done = _run(words, timeout)
        checked = command("port", path, "--check", "--target", target)
        return {**checked, "diff": done.stdout}

    def port(path: str, output: str, target: str = "nn") -> Document:
        """Write the port of a file or folder into a new folder; findings say what is left."""
        return command("port", path, "-o", output, "--target", target)

    def parity(
        torch: str,
        mindspore: str,
        inputs: list[str],
        classes: int = 0,
        steps: int = 1,
        mode: str = "both",
        config: str = "",
        torch_path: str = "",
        ms_path: str = "",
        definitions_only: bool = False,
    ) -> Document:
        """Run one training step of both models (path/file.py:callable) from the same weights and
        inputs ("8,3,32,32") and compare every stage; names the first layer that differs. config
        (a file, or key=value,...) builds models that want a config object; torch_path and ms_path
        are folders to import from; definitions_only is for scripts that train on import.
        """
        words = ["parity", torch, mindspore, "--steps", str(steps), "--mode", mode]
        for shape in inputs:
            words += ["--input", shape]
        given = {"--config": config, "--torch-path": torch_path, "--ms-path": ms_path}
        words += [word for pair in given.items() if pair[1] for word in pair]
        words += ["--definitions-only"] * definitions_only
        return command(*words, *(["--classes", str(classes)] if classes else []))

    def compare(torch_step: str, mindspore_step: str) -> Document:
        """Compare two steps that `ms-migrate capture` recorded, on any machine."""
        return command("compare", torch_step, mindspore_step)

    for tool in (analyze, lookup, explain, port_diff, port, parity, compare):
        server.add_tool(tool)
    return server


def run_command(words: tuple[str, ...] | list[str], timeout: float) -> Document:
    """One command's JSON document; a failure is a document, too."""
    done = _run([*words, "--format", "json"], timeout)
    try:
        found = json.loads(done.stdout)
        return found if isinstance(found, dict) else {"result": found}
    except ValueError:
        message = done.stderr.strip() or "no answer"
        return {"exit_code": done.returncode, "error": {"message": message}}


def _run(words: list[str], timeout: float) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            [sys.executable, "-m", "migrate", *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        reason = f"took longer than {timeout:g} s"
        return subprocess.CompletedProcess(words, 2, "", reason)
