"""What a planned step does with values, gradients and modes; the hunt compares with torch."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from migrate.cli import main

HEAD = """
    import torch
    import torch.nn as nn
    import torch.nn.functional as F

    """


def test_an_earlier_value_is_a_result_of_the_step(port) -> None:
    text = port(
        HEAD
        + """
    def train(cell: nn.Module, head: nn.Module, data, opt: torch.optim.Optimizer, state):
        for x, y in data:
            out = torch.tanh(cell(x + state))
            state = out.detach()
            out = head(out)
            loss = F.mse_loss(out, y)
            opt.zero_grad()
            loss.backward()
            opt.step()
    """
    ).text
    assert "out_1 = out\n" in text
    assert "return loss, out_1" in text or "return loss, out, out_1" in text
    assert "state = ops.stop_gradient(out_1)" in text


def test_only_the_listed_parameters_are_clipped(port) -> None:
    source = (
        HEAD
        + """
    def train(enc: nn.Module, dec: nn.Module, x, y):
        opt = torch.optim.SGD([*enc.parameters(), *dec.parameters()], lr=0.1)
        opt.zero_grad()
        loss = F.mse_loss(dec(enc(x)), y)
        loss.backward()
        nn.utils.clip_grad_norm_({listed}, 1.0)
        opt.step()
    """
    )
    some = port(source.format(listed="enc.parameters()")).text
    assert "of=opt.parameters, only=helpers.parameters(enc)" in some.replace("\n", "")


def test_a_backward_pass_is_shared_by_all_optimizers_that_see_it(port) -> None:
    text = port(
        HEAD
        + """
    def train(g: nn.Module, d: nn.Module, data):
        og = torch.optim.SGD(g.parameters(), lr=0.1)
        od = torch.optim.SGD(d.parameters(), lr=0.1)
        for x, z in data:
            og.zero_grad()
            od.zero_grad()
            lg = d(g(z)).mean()
            lg.backward()
            og.step()
            ld = d(x).mean()
            ld.backward()
            od.step()
    """
    ).text
    assert "[*og.parameters, *od.parameters]" in text


def test_values_are_cut_where_they_are_computed(port) -> None:
    text = port(
        HEAD
        + """
    class Net(nn.Module):
        def __init__(self, frozen):
            super().__init__()
            self.encoder, self.head = nn.Linear(2, 2), nn.Linear(2, 2)
            self.frozen = frozen

        def forward(self, x):
            found = []
            with torch.no_grad():
                found.append(self.encoder(x))
                with torch.enable_grad():
                    y = self.head(found[0])
            with torch.set_grad_enabled(not self.frozen):
                z = self.encoder(y)
            return y, z
    """
    ).text
    assert "found.append(ops.stop_gradient(self.encoder(x)))" in text
    assert "y = self.head(found[0])" in text
    assert "z = helpers.stop_gradients(self.encoder(y), unless=not self.frozen)" in text


def test_cells_start_in_training_mode_where_not_every_construction_is_in_view(port) -> None:
    source = (
        HEAD
        + """
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm = nn.BatchNorm1d(2)

        def forward(self, x):
            return self.norm(x)

    def run(x):
        {body}
    """
    )
    in_view = port(source.format(body="net = Net()\n        return net(x)")).text
    assert "net.set_train()" in in_view and "start_in_training_mode" not in in_view
    for body in ("return [net(x) for net in [Net(), Net()]]", "return Net()(x)"):
        assert "helpers.start_in_training_mode()" in port(source.format(body=body)).text


def test_an_input_that_one_branch_binds_starts_as_none(port) -> None:
    text = port(
        HEAD
        + """
    def train(net: nn.Module, data, opt: torch.optim.Optimizer, late):
        for i, (x, y) in enumerate(data):
            if i >= late:
                weight = y.abs()
            opt.zero_grad()
            loss = F.mse_loss(net(x), y)
            if i >= late:
                loss = loss + (net(x) * weight).mean()
            loss.backward()
            opt.step()
    """
    ).text
    assert text.index("weight = None") < text.index("for i, (x, y)")


def test_the_plan_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "train.py"
    path.write_text(
        textwrap.dedent(
            HEAD
            + """
    def train(net: nn.Module, data, opt: torch.optim.Optimizer):
        for x, y in data:
            opt.zero_grad()
            out = net(x)
            raw = out.sum().item()
            out = out.relu()
            loss = F.mse_loss(out, y)
            loss.backward()
            opt.step()
            print(raw)
    """
        )
    )
    assert main(["port", str(path), "--explain-plan"]) == 0
    shown = capsys.readouterr().out
    assert "out = net(x): uses parameters" in shown
    assert "raw = out.sum().item(); out is out_1 there" in shown
    assert "out_1 (an earlier value of out)" in shown
    assert "used once, by opt" in shown


@pytest.mark.parametrize(
    ("made", "added"),
    [
        ("rows = losses", "rows.append(F.mse_loss(m(x), y))"),
        ("pass", "collect(losses, F.mse_loss(m(x), y))"),
    ],
)
def test_a_term_added_through_another_name_is_not_lost(port, made, added) -> None:
    ported = port(
        HEAD
        + f"""
    def collect(terms, value):
        terms.append(value)

    def train(m: nn.Module, data):
        opt = torch.optim.SGD(m.parameters(), lr=0.1)
        for x, y in data:
            opt.zero_grad()
            losses = []
            {made}
            {added}
            loss = sum(losses) + 0.01 * sum(p.abs().sum() for p in m.parameters())
            loss.backward()
            opt.step()
    """
    )
    assert "helpers.backward(loss)" in ported.text
    assert any("terms of the loss are put into" in f.message for f in ported.findings)


def test_a_list_of_terms_starts_in_the_step(port) -> None:
    text = port(
        HEAD
        + """
    def train(m: nn.Module, data):
        opt = torch.optim.SGD(m.parameters(), lr=0.1)
        for x, y in data:
            opt.zero_grad()
            terms = {"fit": [], "size": []}
            terms["fit"].append(F.mse_loss(m(x), y))
            loss = sum(terms["fit"])
            loss.backward()
            opt.step()
    """
    ).text
    inside = text[text.index("def forward_step(x, y):") : text.index("grad_step =")]
    assert "terms = " in inside


def test_a_value_of_a_branch_that_was_not_taken_goes_in(port) -> None:
    text = port(
        HEAD
        + """
    def train(m: nn.Module, data, h, opt: torch.optim.Optimizer):
        for i, (x, y) in enumerate(data):
            if i % 2:
                h = m(x)
            loss = F.mse_loss(m(h), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
    """
    ).text
    assert "def forward_step(i, x, h, y):" in text or "def forward_step(i, h, x, y):" in text


def test_what_is_not_known_to_be_a_network_is_named(port) -> None:
    """Callers are not in view, and `g` may be a network or prepare the data."""
    source = (
        HEAD
        + """
    def train(g, opt: torch.optim.Optimizer, z: torch.Tensor):
        opt.zero_grad()
        loss = F.relu(g(z)).mean()
        loss.backward()
        opt.step()
    """
    )
    (finding,) = port(source).findings
    assert finding.code == "MS408" and "nothing is known of g" in finding.message
    assert not port(source.replace("(g,", "(g: nn.Module,")).findings


def test_what_is_kept_of_a_batch_is_kept_before_it_is_skipped(port) -> None:
    text = port(
        HEAD
        + """
    def train(net: nn.Module, data, opt: torch.optim.Optimizer):
        seen = []
        for i, x in enumerate(data):
            out = net(x)
            seen.append(out.mean().item())
            if i == 2:
                continue
            loss = out.pow(2).mean()
            if loss.item() > 2:
                continue
            loss.backward()
            if i % 2:
                opt.step()
                opt.zero_grad()
        return seen
    """
    ).text
    order = ["= grad_step(x)", "seen.append", "if i == 2", "if loss.item() > 2", ".add(grads)"]
    places = [text.index(part) for part in order]
    assert places == sorted(places)


def test_a_count_that_skipping_decides_is_no_function_of_the_step(port) -> None:
    result = port(
        HEAD
        + """
    def train(net: nn.Module, data, opt: torch.optim.Optimizer):
        count = 1
        for x in data:
            out = net(x)
            if out.mean().item() > 0:
                continue
            count += 1
            loss = out.pow(2).mean() / count
            opt.zero_grad()
            loss.backward()
            opt.step()
    """
    )
    assert any("count" in finding.message for finding in result.findings)


OUTSIDE = [
    """
    def update(out, y, opt, criterion):
        loss = criterion(out, y)
        opt.zero_grad()
        loss.backward()
        opt.step()

    def train(net: nn.Module, data, opt: torch.optim.Optimizer):
        for x, y in data:
            update(net(x), y, opt, nn.CrossEntropyLoss())
    """,
    """
    class Trainer:
        def __init__(self, net: nn.Module):
            self.net, self.head = net, nn.Linear(2, 2)
            self.opt = torch.optim.SGD(net.parameters(), lr=0.1)

        def update(self, features, y):
            loss = F.cross_entropy(self.head(features), y)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()

        def fit(self, data):
            for x, y in data:
                self.update(self.net(x), y)
    """,
    """
    class GAN:
        def __init__(self):
            self.G, self.D = nn.Linear(4, 4), nn.Linear(4, 1)
            self.opt = torch.optim.SGD(self.G.parameters(), lr=0.1)

        def forward(self, x):
            self.fake = self.G(x)

        def optimize(self, x):
            self.forward(x)
            loss = self.D(self.fake).mean()
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
    """,
]


@pytest.mark.parametrize("source", OUTSIDE)
def test_a_forward_pass_that_was_run_elsewhere_is_not_taken_for_data(port, source) -> None:
    result = port(HEAD + source)
    assert "helpers.backward(loss)" in result.text
    assert any("was run elsewhere" in finding.message for finding in result.findings)


def test_features_without_a_gradient_are_data(port) -> None:
    source = OUTSIDE[1].replace("self.net(x), y)", "self.net(x).detach(), y)")
    result = port(HEAD + source)
    assert not result.findings and "def forward_step(features, y):" in result.text


def test_gradients_that_nothing_clears_add_up(port) -> None:
    text = port(
        HEAD
        + """
    def train(net: nn.Module, data, opt: torch.optim.Optimizer):
        for x in data:
            net(x).mean().backward()
            opt.step()
    """
    ).text
    assert "gradients.add(grads)" in text and ".clear()" not in text


def test_what_looks_at_the_loss_of_either_branch_stays(port) -> None:
    text = port(
        HEAD
        + """
    def train(model: nn.Module, data, opt: torch.optim.Optimizer, scaler, history):
        for x, y in data:
            loss = F.mse_loss(model(x), y)
            if not torch.isfinite(loss):
                raise ValueError("loss is not finite")
            history.append(loss.item())
            opt.zero_grad()
            if scaler is None:
                loss.backward()
                opt.step()
            else:
                scaler.scale(loss).backward()
                scaler.step(opt)
                scaler.update()
    """
    ).text
    chosen, _, rest = text.partition("grad_step_2(x, y)\n")
    assert rest.count("history.append(loss.item())") == 1
    assert rest.count('raise ValueError("loss is not finite")') == 1
    assert "history.append" not in chosen
