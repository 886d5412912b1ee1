"""The MCP server over stdio with the SDK's own client, and the skill."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from migrate.cli import COMMANDS, main


def _call(folder: Path, *calls: tuple[str, dict[str, Any]]) -> tuple[list[str], list[Any]]:
    """The names of the tools, and what the calls give."""
    pytest.importorskip("mcp", reason="the MCP SDK is not installed: pip install 'ms-migrate[mcp]'")
    from mcp import ClientSession, StdioServerParameters, stdio_client

    async def talk() -> tuple[list[str], list[Any]]:
        server = StdioServerParameters(
            command=sys.executable,
            args=["-m", "migrate", "mcp"],
            env=dict(os.environ),
            cwd=str(folder),
        )
        async with stdio_client(server) as streams, ClientSession(*streams) as session:
            await session.initialize()
            names = [tool.name for tool in (await session.list_tools()).tools]
            return names, [await session.call_tool(*call) for call in calls]

    return asyncio.run(talk())


def test_tools_answer_with_documents(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text("import torch\nx = torch.cat([a], dim=0)\ntorch.nonesuch()\n")
    names, answers = _call(
        tmp_path,
        ("analyze", {"path": "net.py"}),
        ("explain", {"code": "MS303"}),
        ("lookup", {"name": "torch.cat"}),
        ("port_diff", {"path": "net.py"}),
        ("port", {"path": "absent.py", "output": "out"}),
    )
    assert set(names) == {
        *("analyze", "lookup", "explain", "port_diff", "port", "parity", "compare"),
    }
    documents = [answer.structured_content for answer in answers]
    analysed, explained, found, ported, failed = documents
    assert analysed["schema"] == "ms-migrate/analyze"
    assert analysed["summary"]["open"] == 1
    assert explained["findings"][0]["code"] == "MS303"
    assert found["answers"][0]["rows"][0]["torch"] == "torch.cat"
    assert "+" in ported["diff"] and "ops.cat" in ported["diff"]
    assert ported["findings"][0]["line"] == 3
    assert failed["exit_code"] == 2 and failed["error"]["message"]
    assert not (tmp_path / "out").exists()


def test_without_the_sdk(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from migrate.assistant import mcp_command

    monkeypatch.setattr(mcp_command, "find_spec", lambda name: None)
    assert main(["mcp"]) == 2
    assert "ms-migrate[mcp]" in capsys.readouterr().err


def test_the_skill(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["skill"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("---\nname: pytorch-to-mindspore\n")
    for word in ("analyze", "port", "parity", "explain", "lookup", "doctor"):
        assert word in COMMANDS and f"ms-migrate {word}" in text
    assert main(["skill", "--install", str(tmp_path / "skills"), "-q"]) == 0
    assert (tmp_path / "skills" / "pytorch-to-mindspore" / "SKILL.md").read_text() == text
    assert main(["skill", "--install", str(tmp_path / "skills")]) == 2
    assert main(["skill", "--install", str(tmp_path / "skills"), "--force", "-q"]) == 0


def test_installing_says_where(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["skill", "--install", str(tmp_path)]) == 0
    assert (
        capsys.readouterr().err == f"ms-migrate: wrote {tmp_path}/pytorch-to-mindspore/SKILL.md\n"
    )
