"""Commands as people type them, for the end of each `--help`; a test parses every one."""

from __future__ import annotations

EXAMPLES: dict[str, tuple[tuple[str, str], ...]] = {
    "analyze": (
        ("analyze src", "what the program uses, and what to do"),
        ("analyze src -o report.html", "the same as one page"),
        ("analyze src --exclude third_party --ignore MS4 --format github", "in a CI job"),
        ("analyze - < model.py", "standard input"),
    ),
    "port": (
        ("port src -o ported", "write the ported tree"),
        ("port src -o ported --report port.html", "with both sources side by side on one page"),
        ("port model.py --diff", "show what would change"),
        ("port src --check --baseline known.json", "fail on what is new"),
    ),
    "parity": (
        ("parity net.py:Net ported/net.py:Net --input 8,3,32,32 --classes 10", "one step each"),
        ("parity a.py:f b.py:f --input 4,16 --steps 5 --report parity.html", "loss curves as well"),
    ),
    "capture": (
        ("capture torch net.py:Net --input 8,3,32,32 -o step_torch", "on the machine with torch"),
        ("capture mindspore out.py:Net --reference step_torch -o step_ms", "on the other"),
    ),
    "compare": (("compare step_torch step_ms --report parity.html", "anywhere"),),
    "weights": (("weights model.pth model.ckpt", "bit exact, and back the same way"),),
    "lookup": (
        ("lookup nn.Conv2d F.relu", "two APIs, arguments side by side"),
        ("lookup MS307", "what a finding means"),
    ),
    "verify": (("verify torch.nn.functional.gelu", "run this row against torch"),),
    "preflight": (
        ("preflight ported/net.py:Net --input 32,3,224,224 --classes 10", "one step"),
        ("preflight ported/train.py --steps 2 -- --batch-size 32", "a whole program"),
    ),
    "explain": (("explain MS307", "by code"), ("explain unknown-receiver", "by name")),
    "doctor": (("doctor --device Ascend", "is this machine ready?"),),
    "demo": (("demo -o demo", "port, reports and comparison into one folder"),),
    "mcp": (("mcp", "started by the assistant, for example: claude mcp add ms-migrate"),),
    "skill": (("skill --install skills", "writes skills/pytorch-to-mindspore/SKILL.md"),),
    "completion": (('completion bash >> "$HOME/.bashrc"', "completion with the Tab key"),),
}


def epilog(command: str) -> str:
    """The examples, each under what it is for."""
    lines = [f"  # {what}\n  ms-migrate {words}" for words, what in EXAMPLES.get(command, ())]
    return "examples:\n" + "\n".join(lines) if lines else ""
