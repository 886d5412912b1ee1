"""`port --style mindspore`: which loops become mindspore.train.Model, and what keeps the others."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from migrate.port.file import PortedFile, port_file
from migrate.project import discover
from migrate.resolve import Resolver
from migrate.table import Table

PROGRAMS = Path(__file__).parents[1] / "training" / "style"
HEAD = """\
import torch
import torch.nn.functional as F
from torch import nn, optim


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def forward(self, x):
        return self.fc(x)


"""
MAIN = """\
def main(loader, test_loader, epochs):
    model = Net()
    loss_fn = nn.CrossEntropyLoss()
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(epochs):
        model.train()
        for i, (x, y) in enumerate(loader):
            optimizer.zero_grad()
            out = model(x)
            loss = loss_fn(out, y)
            loss.backward()
            optimizer.step()
            # in the batch
        # in the epoch
    # behind
"""


@pytest.fixture
def restyle(tmp_path: Path, table: Table):
    def run(text: str) -> PortedFile:
        path = tmp_path / "program.py"
        path.write_text(text)
        project = discover([path])
        line = "import ms_migrate_helpers as helpers"
        resolver = Resolver(project, table)
        return port_file(resolver, project.files[0], helper_import=line, style="mindspore")

    return run


def with_lines(batch: str = "", epoch: str = "", behind: str = "") -> str:
    text = HEAD + MAIN
    for mark, lines in (("in the batch", batch), ("in the epoch", epoch), ("behind", behind)):
        place = next(line for line in text.splitlines() if line.strip() == f"# {mark}")
        indent = place[: len(place) - len(place.lstrip())]
        text = text.replace(place, "\n".join(indent + line for line in lines.splitlines()))
    return text


def reasons(ported: PortedFile) -> list[str]:
    return [finding.message for finding in ported.findings if finding.code == "MS409"]


EVALUATION = """\
model.eval()
correct = 0
with torch.no_grad():
    for x, y in test_loader:
        correct += (model(x).argmax(1) == y).sum().item()
"""


@pytest.mark.parametrize(
    ("batch", "epoch", "behind", "reason"),
    [
        ("nn.utils.clip_grad_norm_(model.parameters(), 1.0)", "", "", "clip_grad_norm_"),
        ("correct = (out.argmax(1) == y).sum().item()\nprint(correct)", "", "", "of training"),
        ("if i > 10:\n    break", "", "", "`break` has no counterpart"),
        ("writer.add_scalar('loss', loss.item(), i)", "", "", "SummaryCollector"),
        ("scheduler.step(loss)", "", "", "`scheduler.step(loss)`"),
        ("", "print(epoch)", "print(loss.item())", "`loss`, which the loop computes, is read"),
        ("", f"{EVALUATION}if correct > 5:\n    torch.save(model.state_dict(), 'x')", "", "saved"),
        ("", f"{EVALUATION}history.append(correct)", "return history", "`history`"),
        ("", EVALUATION.replace("model.eval()\n", ""), "", "not in evaluation mode"),
        ("", "torch.save({'model': model.state_dict(), 'epoch': epoch}, 'x')", "", "more than"),
        ("for p in model.parameters():\n    p.requires_grad = False", "", "", "for p in"),
    ],
)
def test_what_keeps_a_loop(restyle, batch: str, epoch: str, behind: str, reason: str) -> None:
    ported = restyle(with_lines(batch, epoch, behind))
    assert len(reasons(ported)) == 1, ported.findings
    assert reason in reasons(ported)[0]
    assert "value_and_grad" in ported.text  # the default style
    assert "Model(" not in ported.text


def test_a_plain_loop(restyle) -> None:
    ported = restyle(with_lines())
    assert not ported.findings
    assert "trainer.train(epochs, train_data, dataset_sink_mode=False)" in ported.text
    assert "optimizer = nn.SGD(model.trainable_params(), learning_rate=0.1)" in ported.text
    assert "value_and_grad" not in ported.text


def test_shown_values_are_listed(restyle) -> None:
    lines = "total = i\nif i % 10 == 0:\n    print('loss', loss.item(), total)"
    ported = restyle(with_lines(batch=lines))
    assert not ported.findings
    assert "callbacks=[LossMonitor(10)]" in ported.text
    assert [text for _, text in ported.notes] == [
        "the output of line 29 is replaced: LossMonitor prints the loss of a step"
    ]


@pytest.mark.parametrize(
    ("head", "line", "goes"),
    [
        ("import logging\nnews = logging.getLogger('news')", "news.info(loss.item())", True),
        ("import logging", "logging.info(loss.item())", True),
        ("from sys import stdout", "stdout.write('%f' % loss.item())", True),
        ("from elsewhere import logger", "logger.info(loss.item())", False),
        ("from elsewhere import print", "print(loss.item())", False),
        ("def max(a, b):\n    raise StopIteration", "print(max(loss.item(), 1))", False),
        ("import os", "print(os.remove('x'))", False),
    ],
)
def test_what_only_shows_is_not_told_by_its_name(restyle, head: str, line: str, goes: bool) -> None:
    text = with_lines(batch=line).replace("\n\n\nclass Net", f"\n{head}\n\n\nclass Net", 1)
    assert ("Model(" in restyle(text).text) is goes


def test_an_evaluation_is_a_metric(restyle) -> None:
    ported = restyle(with_lines(epoch=EVALUATION + "print(correct / len(test_loader.dataset))"))
    assert not ported.findings
    assert "metrics={'accuracy': Accuracy()}" in ported.text
    assert "trainer.fit(" in ported.text


def test_frozen_parameters_are_refused(restyle) -> None:
    frozen = "    for p in model.parameters():\n        p.requires_grad = False\n"
    early = with_lines().replace("    loss_fn =", f"{frozen}    loss_fn =")
    late = with_lines().replace("    for epoch", f"{frozen}    for epoch")
    assert not reasons(restyle(early))
    assert "frozen" in reasons(restyle(late))[0]


def test_gradient_accumulation_stays(restyle) -> None:
    text = with_lines().replace("            optimizer.zero_grad()\n", "")
    text = text.replace(
        "            optimizer.step()\n",
        "            if i % 4 == 3:\n"
        "                optimizer.step()\n                optimizer.zero_grad()\n",
    )
    assert len(reasons(restyle(text))) == 1


def test_epochs_that_are_counted_elsewhere(restyle) -> None:
    text = HEAD + (
        "def train_one_epoch(model: nn.Module, loader, optimizer: optim.Optimizer):\n"
        "    for x, y in loader:\n"
        "        optimizer.zero_grad()\n"
        "        loss = F.cross_entropy(model(x), y)\n"
        "        loss.backward()\n"
        "        optimizer.step()\n"
    )
    assert "epochs are not counted in this file" in reasons(restyle(text))[0]


def test_an_unknown_schedule_is_stepped_by_a_callback(restyle) -> None:
    text = with_lines(batch="scheduler.step()").replace(
        "    for epoch",
        "    scheduler = optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=99)\n"
        "    for epoch",
    )
    ported = restyle(text)
    assert "helpers.SchedulerCallback(scheduler, every='step')" in ported.text
    assert "nn.TrainOneStepCell(nn.WithLossCell(model, loss_fn), optimizer)" in ported.text


@pytest.mark.parametrize("name", sorted(path.stem for path in PROGRAMS.glob("[!c]*.py")))
def test_programs_have_no_loop_left(restyle, name: str) -> None:
    text = (PROGRAMS / f"{name}.py").read_text("utf-8")
    common = (PROGRAMS / "common.py").read_text("utf-8").partition('"""\n\n')[2]
    lines = [line for line in text.splitlines() if not line.startswith("from common")]
    ported = restyle(common + "\n".join(lines))
    assert not ported.findings
    assert "from mindspore.train import" in ported.text
    assert "value_and_grad" not in ported.text
    assert "for epoch in" not in ported.text


def test_the_page_shows_what_port_writes(restyle) -> None:
    page = (Path(__file__).parents[2] / "docs" / "port.md").read_text("utf-8")
    shown = page.partition("<!-- style: begin -->")[2].partition("<!-- style: end -->")[0]
    before, after = (part.partition("```python\n")[2] for part in shown.split("\n```\n")[:2])
    program = (PROGRAMS / "one_main.py").read_text("utf-8")
    assert textwrap.indent(before, "    ") in program
    assert textwrap.indent(after, "    ") in restyle(program).text


def test_a_loop_of_model_assumes_that_every_parameter_gets_a_gradient(restyle) -> None:
    ported = restyle(HEAD + MAIN.replace("lr=0.1)", "lr=0.1, momentum=0.9)"))
    loop = (HEAD + MAIN).split("\n").index("    for epoch in range(epochs):") + 1
    assumed = [(one.line, one.what) for one in ported.coverage.assumptions if not one.api]
    assert [line for line, what in assumed if "gets a gradient in every step" in what] == [loop]


@pytest.mark.parametrize(
    ("settings", "assumed"),
    [("", False), (", momentum=0.9", True), (", weight_decay=0.1", True), (", momentum=0", False)],
)
def test_plain_sgd_does_not_move_by_zeros(restyle, settings: str, assumed: bool) -> None:
    source = HEAD + MAIN.replace("lr=0.1)", f"lr=0.1{settings})")
    assert source.count(f"lr=0.1{settings})") == 1
    ported = restyle(source)
    found = [one for one in ported.coverage.assumptions if "gets a gradient" in one.what]
    assert bool(found) is assumed and "nn.TrainOneStepCell" not in ported.text
