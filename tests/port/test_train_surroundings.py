"""Around a training step: modes, frozen parameters, no_grad, settings of optimizers."""

from __future__ import annotations

from tests.port.test_train_step import lines, ported

STEP = """
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


def test_a_model_that_nobody_switches_is_switched_where_it_is_built(port) -> None:
    text, findings = ported(
        port,
        """
        def main(loader: DataLoader):
            model = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5))
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            train(model, optimizer, loader)

        def train(model, optimizer, loader):"""
        + STEP.replace("\n", "\n        "),
    )
    assert not findings
    found = lines(text)
    assert found[found.index("model.set_train()") - 1].startswith("model = nn.SequentialCell(")
    assert found.count("model.set_train()") == 1


def test_a_mode_that_the_program_sets_stays(port) -> None:
    text, _ = ported(
        port,
        """
        class Trainer:
            def __init__(self, student: nn.Module, teacher: nn.Module):
                self.student, self.teacher = student, teacher
                self.optimizer = torch.optim.SGD(self.student.parameters(), lr=0.1)

            def fit(self, loader: DataLoader):
                for x, y in loader:
                    with torch.no_grad():
                        goal = self.teacher(x)
                    out = self.student(x)
                    loss = F.mse_loss(out, goal)
                    self.optimizer.zero_grad()
                    loss.backward()
                    self.optimizer.step()

        def main(loader: DataLoader):
            teacher = nn.Linear(2, 2)
            teacher.eval()
            student = nn.Linear(2, 2)
            Trainer(student, teacher).fit(loader)
        """,
    )
    found = lines(text)
    assert [line for line in found if "set_train" in line] == [
        "teacher.set_train(False)",
        "student.set_train()",
    ]
    # The teacher's answer is data of the step.
    assert "def forward_step(x, goal):" in found
    assert found[found.index("goal = self.teacher(x)") - 1] == "for x, y in loader:"


def test_gradients_stop_where_no_grad_ends(port) -> None:
    text, findings = ported(
        port,
        """
        @torch.no_grad()
        def target(model: nn.Module, x: torch.Tensor):
            return model(x)

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.gate = nn.Linear(2, 2)

            def forward(self, x):
                with torch.no_grad():
                    weight = self.gate(x).softmax(-1)
                return self.gate(x) * weight
        """,
    )
    assert not findings
    found = lines(text)
    assert "return ops.stop_gradient(model(x))" in found
    weight = next(line for line in found if line.startswith("weight = "))
    assert weight.startswith("weight = ops.stop_gradient(") and "self.gate(x)" in weight


def test_backward_under_a_condition(port) -> None:
    text, findings = ported(
        port,
        """
        def run(model: nn.Module, loader: DataLoader, optimizer=None):
            training = optimizer is not None
            model.train(training)
            with torch.set_grad_enabled(training):
                for x, y in loader:
                    out = model(x)
                    loss = F.cross_entropy(out, y)
                    if training:
                        optimizer.zero_grad()
                        loss.backward()
                        optimizer.step()
                    print(loss.item(), out.argmax(1))
        """,
    )
    assert not findings
    found = lines(text)
    start = found.index("for x, y in loader:")
    # Without training there is no optimizer to ask for its parameters.
    assert found[start - 2] == "if training:" and found[start - 1].startswith("grad_step = ")
    assert found[start : start + 7] == [
        "for x, y in loader:",
        "if training:",
        "(loss, out), grads = grad_step(x, y)",
        "else:",
        "loss, out = forward_step(x, y)",
        "if training:",
        "optimizer(grads)",
    ]


def test_what_is_looked_at_between_two_steps_stays_there(port) -> None:
    text, _ = ported(
        port,
        """
        def gan(netD: nn.Module, netG: nn.Module, loader: DataLoader,
                optD: torch.optim.Optimizer, optG: torch.optim.Optimizer):
            for real, noise in loader:
                netD.zero_grad()
                fake = netG(noise)
                output = netD(fake.detach())
                loss = output.mean()
                loss.backward()
                seen = output.mean().item()
                optD.step()
                netG.zero_grad()
                output = netD(fake)
                loss = -output.mean()
                loss.backward()
                optG.step()
                print(seen, output.mean().item())
        """,
    )
    found = lines(text)
    first = next(i for i, line in enumerate(found) if line.endswith("= grad_step(fake)"))
    assert found[first + 1 : first + 3] == ["seen = output.mean().item()", "optD(grads)"]


def test_a_part_of_a_model_is_called_inside_the_step(port) -> None:
    text, _ = ported(
        port,
        """
        def train(net, loader: DataLoader, optimizer: torch.optim.Optimizer):
            for x, y in loader:
                half = x.size(0) // 2
                optimizer.zero_grad()
                e1, e2 = net.trunk(x[:half]), net.trunk(x[half:])
                parts = {"a": e1.mean(), "b": e2.mean()}
                loss = sum(part for part in parts.values())
                loss.backward()
                optimizer.step()
        """,
    )
    found = lines(text)
    start = found.index("def forward_step(x, half):")
    assert found[start + 1].startswith("e1, e2 = net.trunk(")
    # Graph mode compiles no generator.
    assert found[start + 3] == "loss = sum([part for part in parts.values()])"


def test_values_changed_by_items_reach_the_step(port) -> None:
    text, _ = ported(
        port,
        """
        def learn(policy: nn.Module, target: nn.Module, optimizer: torch.optim.Optimizer,
                  state: torch.Tensor, alive: torch.Tensor):
            value = policy(state)
            ahead = torch.zeros(state.size(0))
            with torch.no_grad():
                ahead[alive] = target(state[alive]).max(1).values
            loss = F.mse_loss(value, ahead.unsqueeze(1))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        """,
    )
    found = lines(text)
    assert "def forward_step(state, ahead):" in found
    change = next(i for i, line in enumerate(found) if line.startswith("ahead[alive] = "))
    assert change < found.index("loss, grads = grad_step(state, ahead)")


def test_gradients_are_not_cleared_before_there_are_any(port) -> None:
    text, _ = ported(
        port,
        """
        def train(model: nn.Module, loader: DataLoader, optimizer: torch.optim.Optimizer):
            optimizer.zero_grad()
            for i, (x, y) in enumerate(loader):
                loss = F.mse_loss(model(x), y)
                loss.backward()
                if i % 2:
                    optimizer.step()
                    optimizer.zero_grad()
        """,
    )
    found = lines(text)
    # Kept with the optimizer as torch keeps .grad: what an earlier epoch left over counts.
    assert found[1] == "helpers.gradients_of(optimizer).clear()"
    assert "gradients = helpers.gradients_of(optimizer)" in found
    assert found.count("gradients.clear()") == 1


def test_loops_of_one_optimizer_have_steps_of_their_own(port) -> None:
    loop = """
            for x, y in loader:
                loss = 0
                for part in model(x):
                    loss += F.mse_loss(part, y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
    """
    head = "def train(model: nn.Module, loader: DataLoader, optimizer: torch.optim.Optimizer):"
    text, findings = ported(port, f"\n        {head}{loop}{loop}")
    assert not findings
    found = lines(text)
    assert "gradients" not in text
    assert found.count("optimizer(grads)") == 1 and found.count("optimizer(grads_2)") == 1
    # What the step adds up starts inside it.
    start = found.index("def forward_step(x, y):")
    assert found[start + 1 : start + 4] == [
        "loss = 0",
        "for part in model(x):",
        "loss += ops.mse_loss(part, y)",
    ]


def test_a_forward_pass_run_elsewhere_is_recorded_and_found(port) -> None:
    text, findings = ported(
        port,
        """
        def finish(policy: nn.Module, optimizer: torch.optim.Optimizer, returns):
            terms = []
            for log_prob, value in zip(policy.saved_log_probs, returns):
                terms.append(-log_prob * value)
            loss = torch.cat(terms).sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        """,
    )
    assert "MS408" in {finding.code for finding in findings}
    assert "recorded while the program runs" in findings[0].message
    kept = "helpers.ParameterGradients(optimizer.parameters)"
    assert f"{kept}.clear()" in text and "helpers.backward(loss)" in text
    assert f"optimizer({kept}.values)" in text


def test_only_the_file_that_needs_it_records(port) -> None:
    """Others that share the helper module may compile their steps."""
    text = port(
        """
        import torch
        from torch import nn
        from data import saved

        def finish(opt: torch.optim.Optimizer):
            loss = torch.stack(saved).sum()
            loss.backward()
            opt.step()
        """
    ).text
    head = text[: text.index("def finish")]
    assert "from data import saved" in head and head.rstrip().endswith("\n\nhelpers.record()")
    assert "record" not in port("import torch\nx = torch.ones(2)\n").text


def test_frozen_parameters_are_left_alone_and_thawed_ones_trained(port) -> None:
    freeze = """
        def main(model: nn.Module, loader: DataLoader):
            for p in model.parameters():
                p.requires_grad = {value}
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    """
    step = STEP.replace("\n", "\n        ")
    frozen, _ = ported(port, freeze.format(value=False).rstrip() + step)
    assert "helpers.update(optimizer, grads)" in frozen
    assert "helpers.SGD(model.trainable_params()" in frozen
    thawed, _ = ported(port, freeze.format(value="flag()").rstrip() + step)
    assert "helpers.SGD(helpers.parameters(model)" in thawed


def test_settings_of_an_optimizer_read_and_change_as_numbers(port) -> None:
    text, findings = ported(
        port,
        """
        def adjust(optimizer, factor):
            for group in optimizer.param_groups:
                group["lr"] *= factor
            return optimizer.param_groups[0]["lr"]

        def state(optimizer, scheduler):
            return optimizer.state_dict(), scheduler.state_dict(), scheduler.get_last_lr()
        """,
    )
    assert not findings
    assert "for group in helpers.param_groups(optimizer):" in text
    assert 'return helpers.param_groups(optimizer)[0]["lr"]' in text
    assert "helpers.optimizer_state_dict(optimizer), helpers.scheduler_state_dict(schedu" in text


def test_states_go_by_torch_s_names_whoever_has_them(port) -> None:
    text, findings = ported(
        port,
        """
        def main(model: nn.Module, thing, optimizer: torch.optim.Optimizer, best):
            model.load_state_dict(best)
            thing.load_state_dict(best, strict=False)
            optimizer.load_state_dict(best)
            return model.state_dict(), thing.state_dict(), optimizer.state_dict()
        """,
    )
    assert not findings
    assert "    helpers.load_state_dict(model, best)" in text
    assert "    helpers.load_state_dict(thing, best, strict=False)" in text
    assert "    helpers.load_optimizer_state_dict(optimizer, best)" in text
    assert "helpers.state_dict(model), helpers.state_dict(thing)," in text


def test_an_average_changes_the_tensors_themselves(port) -> None:
    text, findings = ported(
        port,
        """
        def update(average: nn.Module, model: nn.Module, decay):
            for e, p in zip(average.parameters(), model.parameters()):
                e.mul_(decay).add_(p, alpha=1 - decay)
            for e, b in zip(average.buffers(), model.buffers()):
                e.copy_(b)
            values = model.state_dict()
            for key, v in average.state_dict().items():
                if v.dtype.is_floating_point:
                    v *= decay
                    v += (1 - decay) * values[key]
        """,
    )
    assert not findings
    found = lines(text)
    assert "ops.assign(e, e.mul(decay).add(p, alpha=1 - decay))" in found
    assert any(line.startswith("helpers.set_value(e, ") for line in found)
    assert "helpers.set_value(v, v * decay)" in found
    assert "helpers.set_value(v, v + ((1 - decay) * values[key]))" in found


def test_devices_that_nothing_needs_go_and_one_seed_is_enough(port) -> None:
    result = port(
        """
        import torch

        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

        def main(x: torch.Tensor):
            use_cuda = torch.cuda.is_available()
            kind = "cuda" if use_cuda else "cpu"
            torch.manual_seed(1)
            torch.cuda.manual_seed_all(1)
            return x.to(device).to(kind), x.is_cuda
        """
    )
    assert "cuda" not in result.text
    assert result.text.count("mindspore.set_seed(1)") == 1
    assert "helpers.ON_ACCELERATOR" in result.text


def test_a_name_that_changes_between_changes_inside_the_step(port) -> None:
    text, _ = ported(
        port,
        """
        def train(model: nn.Module, loader: DataLoader, optimizer: torch.optim.Optimizer, device):
            model.to(device)
            for src, trg in loader:
                output = model(src, trg)
                trg = trg[1:].view(-1)
                loss = F.cross_entropy(output, trg)
                src = None
                optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
        """,
    )
    found = lines(text)
    start = found.index("def forward_step(src, trg):")
    assert "model" not in found  # nothing is left of model.to(device)
    assert found[start + 1 : start + 4] == [
        "output = model(src, trg)",
        "trg = trg[1:].view(-1)",
        "loss = ops.cross_entropy(output, trg)",
    ]
    assert found.index("src = None") > found.index("loss, grads = grad_step(src, trg)")


def test_what_one_round_hands_to_the_next_is_returned(port) -> None:
    text, _ = ported(
        port,
        """
        def detached(h):
            if isinstance(h, torch.Tensor):
                return h.detach()
            return tuple(detached(v) for v in h)

        def train(model: nn.Module, loader: DataLoader, optimizer: torch.optim.Optimizer):
            hidden = model.init_hidden(4)
            for x, y in loader:
                hidden = detached(hidden)
                output, hidden = model(x, hidden)
                loss = F.cross_entropy(output, y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        """,
    )
    assert "(loss, hidden), grads = grad_step(" in text


def test_step_of_a_schedule_that_is_one_of_two_stays(port) -> None:
    result = port(
        """
        import torch
        from torch.optim import lr_scheduler

        def schedule(kind, optimizer: torch.optim.Optimizer):
            if kind == "plateau":
                return lr_scheduler.ReduceLROnPlateau(optimizer)
            return lr_scheduler.StepLR(optimizer, 2)

        def run(kind, optimizer: torch.optim.Optimizer, loss):
            plan = schedule(kind, optimizer)
            if kind == "plateau":
                plan.step(loss)
            else:
                plan.step()
        """
    )
    assert not result.findings
    assert "        plan.step(loss)\n    else:\n        plan.step()\n" in result.text
