"""Training steps in the spellings of real scripts: what becomes of backward, step and zero_grad."""

from __future__ import annotations

import textwrap

PRELUDE = """\
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader

"""


def ported(port, body: str):
    """The text from the first function on, and the findings."""
    result = port(PRELUDE + textwrap.dedent(body))
    compile(result.text, "ported.py", "exec")
    return result.text[result.text.index("def ") :], result.findings


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def test_the_usual_loop(port) -> None:
    text, findings = ported(
        port,
        """
        def train(model: nn.Module, loader: DataLoader, optimizer: torch.optim.Optimizer, device):
            model.train()
            for x, y in loader:
                x, y = x.to(device), y.to(device)
                optimizer.zero_grad()
                out = model(x)
                loss = F.cross_entropy(out, y)
                loss.backward()
                optimizer.step()
                print(loss.item(), out.argmax(1))
        """,
    )
    assert not findings
    found = lines(text)
    assert found[1:7] == [
        "model.set_train()",
        "def forward_step(x, y):",
        "out = model(x)",
        "loss = ops.cross_entropy(out, y)",
        "return loss, out",
        "grad_step = helpers.value_and_grad(forward_step, None, optimizer.parameters, "
        "has_aux=True)",
    ]
    assert found[7:10] == [
        "for x, y in loader:",
        "(loss, out), grads = grad_step(x, y)",
        "optimizer(grads)",
    ]
    assert "backward" not in text and "zero_grad" not in text


def test_only_the_loss_is_used(port) -> None:
    text, _ = ported(
        port,
        """
        def train(model: nn.Module, loader: DataLoader, optimizer: torch.optim.Optimizer):
            for x, y in loader:
                loss = F.mse_loss(model(x), y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                print(loss.item())
        """,
    )
    assert "loss, grads = grad_step(x, y)" in text
    assert "has_aux" not in text


def test_accumulation_keeps_a_store(port) -> None:
    text, findings = ported(
        port,
        """
        def train(model: nn.Module, loader: DataLoader, optimizer: torch.optim.Optimizer, every):
            for i, (x, y) in enumerate(loader):
                loss = F.mse_loss(model(x), y) / every
                loss.backward()
                if (i + 1) % every == 0:
                    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                    optimizer.step()
                    optimizer.zero_grad()
        """,
    )
    assert not findings
    found = lines(text)
    assert "gradients = helpers.gradients_of(optimizer)" in found
    start = found.index("gradients.add(grads)")
    assert found[start + 1 :] == [
        "if (i + 1) % every == 0:",
        "gradients.values = ops.clip_by_global_norm(gradients.values, 1.0)",
        "optimizer(gradients.values)",
        "gradients.clear()",
    ]


def test_clipping_returns_the_norm(port) -> None:
    text, _ = ported(
        port,
        """
        def train(model: nn.Module, loader: DataLoader, optimizer: torch.optim.Optimizer):
            for x, y in loader:
                optimizer.zero_grad()
                loss = F.mse_loss(model(x), y)
                loss.backward()
                norm = nn.utils.clip_grad_norm_(model.parameters(), max_norm=2.0)
                optimizer.step()
                print(norm)
        """,
    )
    assert "grads, norm = helpers.clip_grad_norm(grads, 2.0)" in text


def test_loss_scaling_keeps_the_bare_loss(port) -> None:
    text, findings = ported(
        port,
        """
        def train(model: nn.Module, loader: DataLoader, optimizer: torch.optim.Optimizer,
                  scaler: torch.amp.GradScaler, amp: bool):
            for x, y in loader:
                with torch.autocast("cuda", enabled=amp):
                    loss = F.mse_loss(model(x), y)
                optimizer.zero_grad()
                scaler.scale(loss).backward()
                scaler.unscale_(optimizer)
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                scaler.step(optimizer)
                scaler.update()
                print(loss.item())
        """,
    )
    assert not findings
    found = lines(text)
    assert found[found.index("def forward_step(x, y):") - 1] == (
        '@helpers.autocast("cuda", enabled=amp)'
    )
    assert "return scaler.scale(loss), loss" in found
    start = found.index("(_, loss), grads = grad_step(x, y)")
    assert found[start + 1 : start + 5] == [
        "grads = scaler.unscale(grads, optimizer)",
        "grads = ops.clip_by_global_norm(grads, 1.0)",
        "scaler.step(optimizer, grads)",
        "scaler.update()",
    ]


def test_mixed_precision_stays_in_its_branch(port) -> None:
    text, _ = ported(
        port,
        """
        def train(model: nn.Module, loader: DataLoader, optimizer: torch.optim.Optimizer,
                  scaler: torch.amp.GradScaler, amp):
            for x, y in loader:
                optimizer.zero_grad()
                if amp:
                    with torch.autocast("cuda"):
                        loss = F.mse_loss(model(x), y)
                    scaler.scale(loss).backward()
                    scaler.step(optimizer)
                    scaler.update()
                else:
                    loss = F.mse_loss(model(x), y)
                    loss.backward()
                    optimizer.step()
        """,
    )
    found = lines(text)
    assert found.count('@helpers.autocast("cuda")') == 1
    assert found[found.index('@helpers.autocast("cuda")') + 1].startswith("def forward_step(")


def test_two_optimizers_clear_their_own_gradients(port) -> None:
    text, findings = ported(
        port,
        """
        def gan(netD: nn.Module, netG: nn.Module, loader: DataLoader,
                optD: torch.optim.Optimizer, optG: torch.optim.Optimizer):
            for real, noise in loader:
                netD.zero_grad()
                errD_real = netD(real).mean()
                errD_real.backward()
                fake = netG(noise)
                errD_fake = netD(fake.detach()).mean()
                errD_fake.backward()
                optD.step()
                netG.zero_grad()
                errG = netD(fake).mean()
                errG.backward()
                optG.step()
        """,
    )
    assert not findings
    found = lines(text)
    start = found.index("for real, noise in loader:")
    assert found[start + 1] == "gradients.clear()"
    assert found.count("gradients.clear()") == 1
    assert "optD(gradients.values)" in found
    assert "optG(grads_3)" in found
    assert found.count("fake = netG(noise)") == 2


def test_a_trainer_class(port) -> None:
    text, findings = ported(
        port,
        """
        class Trainer:
            def __init__(self, model: nn.Module):
                self.model = model
                self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3)

            def fit(self, loader: DataLoader):
                for x, y in loader:
                    loss = F.mse_loss(self.model(x), y)
                    self.optimizer.zero_grad()
                    loss.backward()
                    self.optimizer.step()
        """,
    )
    assert not findings
    assert "self.optimizer.parameters" in text
    assert "self.optimizer(grads)" in text


def test_a_scheduler_is_left_alone(port) -> None:
    text, _ = ported(
        port,
        """
        def train(model: nn.Module, loader: DataLoader, optimizer: torch.optim.Optimizer, schedule):
            for x, y in loader:
                loss = F.mse_loss(model(x), y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                schedule.step()
        """,
    )
    assert "schedule.step()" in text


def test_no_optimizer_in_sight_is_found(port) -> None:
    text, findings = ported(
        port,
        """
        def compute(model: nn.Module, x: torch.Tensor, y: torch.Tensor):
            loss = F.mse_loss(model(x), y)
            loss.backward()
            return loss
        """,
    )
    assert "MS408" in {finding.code for finding in findings}
    assert "helpers.backward(loss)" in text  # of what was recorded


def test_what_a_loop_makes_anew_has_its_forward_function_inside(port) -> None:
    """Cross-validation: in front of the folds there is neither model nor optimizer."""
    source = """\
        import torch
        from torch import nn, optim

        def build(): ...

        def run(loader, make_loss):
            for fold in range(2):
                model = nn.Linear(2, 2)
                other = build()
                criterion = make_loss()
                optimizer = optim.SGD(model.parameters(), lr=0.1)
                for epoch in range(3):
                    model.train()
                    for x, y in loader:
                        optimizer.zero_grad()
                        loss = criterion(other(model(x)), y)
                        loss.backward()
                        optimizer.step()
                        print(loss.item())
        """
    result = port(source)
    lines = result.text.splitlines()
    function = lines.index("        def forward_step(x, y):")
    assert lines.index("    for fold in range(2):") < function
    made = next(i for i, line in enumerate(lines) if "optimizer = " in line)
    assert made < function < lines.index("        for epoch in range(3):")


def test_either_branch_runs_its_own_backward(port) -> None:
    text, findings = ported(
        port,
        """
        def train(model: nn.Module, loader: DataLoader, optimizer: torch.optim.Optimizer, scaler,
                  clip):
            model.train()
            for x, y in loader:
                out = model(x)
                loss = F.cross_entropy(out, y)
                optimizer.zero_grad()
                if scaler is not None:
                    scaler.scale(loss).backward()
                    scaler.unscale_(optimizer)
                    nn.utils.clip_grad_norm_(model.parameters(), clip)
                    scaler.step(optimizer)
                    scaler.update()
                else:
                    loss.backward()
                    optimizer.step()
                print(loss.item(), out.argmax(1))
        """,
    )
    assert not findings
    found = lines(text)
    start = found.index("for x, y in loader:")
    assert found[start + 1 : start + 7] == [
        "if scaler is not None:",
        "(_, out, loss), grads = grad_step(x, y)",
        "else:",
        "(loss, out), grads = grad_step_2(x, y)",
        "if scaler is not None:",
        "grads = scaler.unscale(grads, optimizer)",
    ]
    assert "optimizer(grads)" in found
    assert "return scaler.scale(loss), out, loss" in found and "return loss, out" in found


def test_a_backward_in_the_other_branch_alone(port) -> None:
    text, findings = ported(
        port,
        """
        def run(model: nn.Module, loader: DataLoader, optimizer: torch.optim.Optimizer, evaluating):
            for x, y in loader:
                loss = F.cross_entropy(model(x), y)
                if evaluating:
                    print("evaluating")
                else:
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
                print(loss.item())
        """,
    )
    assert not findings
    assert "if not (evaluating):" in text and "optimizer(grads)" in text


def test_a_step_on_one_line_is_a_step(port) -> None:
    text = port(
        "import torch\nfrom torch import nn\n\n"
        "net = nn.Linear(2, 1); a = 1; b = 2\n"
        "opt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
        "c = 3; d = 4\n"
        "for x in batches: "
        "opt.zero_grad(); loss = net(x).mean(); loss.backward(); opt.step()  # all\n"
    ).text
    assert "c = 3; d = 4\n" in text
    assert "    loss, grads = grad_step(x)\n    opt(grads)" in text
    assert "# all" in text


CLOSURE = """\
import torch
from torch import nn

net = nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for x in batches:
    def closure():
        opt.zero_grad()
        loss = net(x).mean()
        loss.backward()
        return loss

    loss = opt.step(closure)
"""


def test_a_closure_is_called_once_and_then_the_step_is_taken(port) -> None:
    result = port(CLOSURE)
    assert not result.findings
    assert "    loss = closure()\n    opt(helpers.ParameterGradients(" in result.text
    named = port(CLOSURE.replace("opt.step(closure)", "opt.step(closure=closure)"))
    assert named.text == result.text


def test_an_optimizer_that_calls_its_closure_many_times_calls_it_itself(port) -> None:
    result = port(CLOSURE.replace("SGD", "LBFGS"))
    assert not result.findings and "    loss = opt.step(closure)\n" in result.text
    assert "helpers.ParameterGradients(" in result.text  # where the optimizer finds them
    searching = port(CLOSURE.replace("SGD(", "LBFGS(line_search_fn='strong_wolfe', params="))
    assert not searching.findings and "    loss = opt.step(closure)\n" in searching.text
    own = CLOSURE.replace("torch.optim.SGD(net.parameters(), lr=0.1)", "Sharp(torch.optim.SGD(w))")
    assert "closure(); " not in port(own).text and "opt.step(closure)" in port(own).text


def test_other_steps_with_an_argument_stay(port) -> None:
    text = "def closure():\n    return 1\n\n\nvalue = machine.step(closure)\n"
    assert port(text).text == text
