"""The numbers that the READMEs and docs/comparison.md show, read from docs/results.

`make docs` writes them anew; a test fails where a page says something else than the results.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.hunt.record import RECORD, every_program
from tests.hunt.run import Judged
from tests.hunt.table import idiom_verdicts

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs" / "results"
BLOCK = re.compile(r"(<!-- measured: begin -->\n\n).*?(\n<!-- measured: end -->)", re.DOTALL)


@dataclass(frozen=True)
class Claim:
    """One line of the table: what was compared, and the sentence for what was read."""

    page: str
    english: tuple[str, str]
    chinese: tuple[str, str]
    read: Callable[[], dict[str, object]]

    def line(self, language: str, folder: str) -> str:
        what, sentence = self.english if language == "en" else self.chinese
        text = sentence.format(**self.read())
        return f"| {what} | [{text}]({folder}{self.page}) |"


def _found(page: str, pattern: str) -> dict[str, object]:
    text = " ".join((RESULTS / page).read_text(encoding="utf-8").split())
    match = re.search(pattern, text)
    assert match, f"{page} has no text like {pattern}"
    return {name: value or "0" for name, value in match.groupdict().items()}


def _zoo() -> dict[str, object]:
    rows = json.loads((RESULTS / "zoo.json").read_text(encoding="utf-8")).values()
    run = [row for row in rows if row.get("modes")]
    agree = [row for row in run if all(mode["agrees"] for mode in row["modes"].values())]
    return {"agree": len(agree), "run": len(run), "oldest": min(row["date"] for row in run)}


def _hunt() -> dict[str, object]:
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    judged = [
        Judged(program, *record[program.name])
        for program in every_program()
        if program.name in record
    ]
    verdicts = Counter(verdict for verdict, _ in idiom_verdicts(judged).values())
    counted = {name: verdicts[name] for name in ("right", "flagged", "loud", "silent")}
    total = sum(counted.values())
    shares = {f"{name}_share": f"{100 * number / total:.1f}" for name, number in counted.items()}
    return {"total": f"{total:,}", **counted, **shares}


def _rows() -> dict[str, object]:
    row = r"\| rows of the table \| (?P<tried>\d+) \| (?P<agree>\d+) \|"
    return _found("verify.md", row)


def _helpers() -> dict[str, object]:
    text = (RESULTS / "bench_helpers.md").read_text(encoding="utf-8")
    rows = len(re.findall(r"^\| ", text, re.MULTILINE)) - 1  # without the head
    return {**_found("bench_helpers.md", r"median (?P<median>[\d.]+)"), "programs": rows}


CLAIMS = (
    Claim(
        "zoo.md",
        (
            "torchvision's models, ported without a hand edit, one training step in both modes",
            "{agree} of {run} agree with torch (runs since {oldest})",
        ),
        (
            "torchvision 的模型：不经手工修改直接移植，在两种模式下各训练一步",
            "{run} 个模型中 {agree} 个与 torch 一致（{oldest} 起的结果）",
        ),
        _zoo,
    ),
    Claim(
        "hunt.md",
        (
            "small programs in the styles of research code, written to break the port",
            "of {total}: {right_share}% right, {flagged_share}% flagged, {loud_share}% fail with "
            "an error, {silent_share}% silently differ",
        ),
        (
            "模仿研究代码写法、专门用来考验移植的小程序",
            "共 {total} 个：{right_share}% 正确，{flagged_share}% 有提示，{loud_share}% "
            "运行时报错，{silent_share}% 结果不同而无提示",
        ),
        _hunt,
    ),
    Claim(
        "flagship.md",
        (
            "whole training programs: losses, checkpoints and evaluation, in one and two processes",
            "{agree} of {run} settings agree; {left} not run",
        ),
        (
            "完整训练程序：损失、检查点与评估，单进程与双进程",
            "{run} 种设置中 {agree} 种一致，{left} 种未运行",
        ),
        lambda: _found(
            "flagship.md", r"(?P<agree>\d+) of (?P<run>\d+) agree(; (?P<left>\d+) settings)?"
        ),
    ),
    Claim(
        "verify.md",
        (
            "rows of the mapping table, run against torch's own operator databases",
            "{agree} of {tried} rows agree in every sample",
        ),
        ("映射表各行，用 torch 自带的算子数据库验证", "{tried} 行中 {agree} 行的全部样例一致"),
        _rows,
    ),
    Claim(
        "ascend_dry_run.md",
        (
            "the same rows on MindSpore's Ascend backend, as a dry run without a device",
            "{accepted} accepted on the device, {slow} on the AI CPU",
        ),
        (
            "同样的各行在 MindSpore 昇腾后端上试运行（无需设备）",
            "{accepted} 行在设备上被接受，{slow} 行在 AI CPU 上执行",
        ),
        lambda: _found(
            "ascend_dry_run.md",
            r"\| accepted \| (?P<accepted>[\d,]+) .*?\| AI CPU \| (?P<slow>[\d,]+) ",
        ),
    ),
    Claim(
        "faults.md",
        (
            "faults seeded into correct ports, checked by parity",
            "{caught} of {seeded} caught, {located} located, {alarms} false alarms in {clean} "
            "clean runs",
        ),
        (
            "在正确的移植中人为植入错误，由 parity 检查",
            "{seeded} 处中发现 {caught} 处、定位 {located} 处；{clean} 次正确的运行"
            "误报 {alarms} 次",
        ),
        lambda: _found(
            "faults.md",
            r"(?P<caught>\d+) of (?P<seeded>\d+) caught, (?P<located>\d+) located.*?"
            r"(?P<alarms>\d+) false alarms in (?P<clean>\d+) clean",
        ),
    ),
    Claim(
        "bench_step.md",
        (
            "time of the ported ResNet-50's training step, beside mindcv's hand-written one",
            "{times} times ({date}, CPU, Graph mode)",
        ),
        (
            "移植后的 ResNet-50 训练一步的耗时，与 mindcv 手写版本之比",
            "{times} 倍（{date}，CPU，Graph 模式）",
        ),
        lambda: _found(
            "bench_step.md", r"date: (?P<date>[\d-]+).*step takes (?P<times>[\d.]+) times"
        ),
    ),
    Claim(
        "bench_helpers.md",
        (
            "lines of helpers that a port brings, beside its own lines",
            "median {median} over {programs} programs and packages (aim: below 0.25)",
        ),
        (
            "移植附带的辅助代码行数与程序自身行数之比",
            "{programs} 个程序与软件包的中位数为 {median}（目标：低于 0.25）",
        ),
        _helpers,
    ),
    Claim(
        "bench_port.md",
        (
            "processor time of `port` on torchvision's models, beside PaConvert, a converter to "
            "PaddlePaddle",
            "{ours} s beside {theirs} s ({bare} s without its formatter); comments kept: {kept} "
            "beside {lost}",
        ),
        (
            "`port` 处理 torchvision 模型的 CPU 时间，与 PaConvert（PaddlePaddle 转换工具）相比",
            "{ours} 秒对 {theirs} 秒（不含其格式化为 {bare} 秒）；保留注释：{kept} 对 {lost}",
        ),
        lambda: _found(
            "bench_port.md",
            r"ms-migrate port, one process \| (?P<ours>[\d.]+) \| [\d,]+ \| (?P<kept>[\d.]+%) .*?"
            r"PaConvert, as it comes \| (?P<theirs>[\d.]+) \| [\d,]+ \| (?P<lost>[\d.]+%) .*?"
            r"no_format \| (?P<bare>[\d.]+) ",
        ),
    ),
)
PAGES = {
    "README.md": ("en", "docs/results/"),
    "README.zh-CN.md": ("zh", "docs/results/"),
    "docs/comparison.md": ("en", "results/"),
}
HEADS = {"en": "| what was compared | last result |", "zh": "| 比较内容 | 最近一次结果 |"}


def table(language: str, folder: str) -> str:
    lines = [HEADS[language], "|---|---|", *(claim.line(language, folder) for claim in CLAIMS)]
    return "\n".join(lines) + "\n"


def renewed(name: str) -> str:
    """The page with today's numbers."""
    text = (ROOT / name).read_text(encoding="utf-8")
    assert BLOCK.search(text), f"{name} has no place for the numbers"
    made = table(*PAGES[name])
    return BLOCK.sub(lambda match: match[1] + made + match[2], text)


def write() -> None:
    for name in PAGES:
        (ROOT / name).write_text(renewed(name), encoding="utf-8")
