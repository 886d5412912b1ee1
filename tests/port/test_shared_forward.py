"""Several losses over one forward pass, and several optimizers over one loss."""

from __future__ import annotations

from tests.port.test_train_step import lines, ported


def test_what_an_earlier_backward_went_through_is_data(port) -> None:
    """torch has freed that graph: computing it anew would be after the generator's update."""
    text, findings = ported(
        port,
        """
        def train(gen: nn.Module, disc: nn.Module, loader: DataLoader, opt_g, opt_d, pool):
            gen.train(), disc.train()
            for x in loader:
                opt_g.zero_grad()
                fake = gen(x)
                loss_g = disc(fake).mean()
                loss_g.backward()
                opt_g.step()
                opt_d.zero_grad()
                loss_d = disc(pool.query(fake)).mean() - disc(x).mean()
                loss_d.backward()
                opt_d.step()
        """,
    )
    assert not findings
    found = lines(text)
    assert found.count("fake = gen(x)") == 1
    assert "(loss_g, fake), grads = grad_step(x)" in found
    assert "def forward_step_2(fake, x):" in found


def test_what_is_detached_runs_in_front_and_again_where_it_is_differentiated(port) -> None:
    text, findings = ported(
        port,
        """
        def train(gen: nn.Module, disc: nn.Module, loader: DataLoader, opt_g, opt_d):
            gen.train(), disc.train()
            for z in loader:
                fake = gen(z)
                opt_d.zero_grad()
                loss_d = disc(fake.detach()).mean()
                loss_d.backward()
                opt_d.step()
                opt_g.zero_grad()
                loss_g = -disc(fake).mean()
                loss_g.backward()
                opt_g.step()
        """,
    )
    assert not findings
    found = lines(text)
    at = found.index("with helpers.preserve_running_stats(gen):")
    assert found[at + 1 : at + 3] == ["fake = gen(z)", "loss_d, grads = grad_step(fake)"]
    assert "(loss_g, fake), grads_2 = grad_step_2(z)" in found


def test_a_retained_graph_is_computed_for_both_losses(port) -> None:
    text, findings = ported(
        port,
        """
        def train(net: nn.Module, loader: DataLoader, first, second):
            net.train()
            for x in loader:
                out = net(x)
                one = out.mean()
                first.zero_grad()
                one.backward(retain_graph=True)
                first.step()
                two = out.std()
                second.zero_grad()
                two.backward()
                second.step()
        """,
    )
    assert text.count("out = net(x)") == 2
    assert "BatchNorm sees the batch twice" in findings[0].message


def test_both_branches_give_the_loss_a_new_value(port) -> None:
    text, findings = ported(
        port,
        """
        def train(net: nn.Module, loader: DataLoader, optimizer: torch.optim.Optimizer, mix):
            net.train()
            for x, y in loader:
                loss = F.cross_entropy(net(x), y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                if mix:
                    loss = F.cross_entropy(net(x * 2), y)
                else:
                    loss = F.cross_entropy(net(x * 3), y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        """,
    )
    assert not findings
    assert text.count("net(x)") == 1


def test_a_loss_that_leaves_the_loop_is_refused(port) -> None:
    text, findings = ported(
        port,
        """
        def train(net: nn.Module, loader: DataLoader, optimizer: torch.optim.Optimizer):
            net.train()
            for x, y in loader:
                try:
                    loss = F.cross_entropy(net(x), y)
                except ValueError:
                    continue
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        """,
    )
    assert any("may leave the loop" in finding.message for finding in findings)
    assert "def forward_step" not in text


def test_two_optimizers_step_after_one_backward(port) -> None:
    text, findings = ported(
        port,
        """
        def train(enc: nn.Module, dec: nn.Module, loader: DataLoader, opt_e, opt_d):
            enc.train(), dec.train()
            for x, y in loader:
                opt_e.zero_grad()
                opt_d.zero_grad()
                loss = F.mse_loss(dec(enc(x)), y)
                loss.backward()
                opt_e.step()
                opt_d.step()
        """,
    )
    assert not findings
    found = lines(text)
    assert any("[*opt_e.parameters, *opt_d.parameters]" in line for line in found)
    for name in ("opt_e", "opt_d"):
        kept = f"helpers.ParameterGradients({name}.parameters)"
        assert f"{kept}.clear()" in found and f"{name}({kept}.values)" in found


def test_what_one_branch_binds_keeps_its_old_value_in_the_other(port) -> None:
    text, findings = ported(
        port,
        """
        def train(net: nn.Module, loader: DataLoader, optimizer: torch.optim.Optimizer, cut):
            net.train()
            for x, y in loader:
                share = 1.0
                if cut(x):
                    share = 0.5
                    loss = F.cross_entropy(net(x), y) * share
                else:
                    loss = F.cross_entropy(net(x * 3), y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                print(share)
        """,
    )
    assert not findings
    assert "(loss, share), grads = grad_step(x, y, share)" in text
