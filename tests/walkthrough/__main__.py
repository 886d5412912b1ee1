"""Write the walk-through into docs/architecture.md anew."""

from __future__ import annotations

from pathlib import Path

from tests.walkthrough.stages import walkthrough

PAGE = Path(__file__).resolve().parents[2] / "docs" / "architecture.md"
BEGIN, END = "<!-- walkthrough: begin -->\n", "<!-- walkthrough: end -->"


def filled(page: str, part: str) -> str:
    before, rest = page.split(BEGIN)
    return f"{before}{BEGIN}\n{part}\n\n{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), walkthrough()), encoding="utf-8")
