"""Programs that look for gradients where torch leaves them: at the parameters."""

from __future__ import annotations

from tests.port.test_train_step import lines, ported


def test_a_program_that_reads_gradients_finds_them_at_the_parameters(port) -> None:
    text, findings = ported(
        port,
        """
        def train(model: nn.Module, loader: DataLoader, optimizer: torch.optim.Optimizer):
            model.train()
            for x, y in loader:
                optimizer.zero_grad()
                loss = F.cross_entropy(model(x), y)
                loss.backward()
                for p in model.parameters():
                    p.grad.data.clamp_(-1, 1)
                optimizer.step()
        """,
    )
    assert not findings
    found = lines(text)
    assert "gradients = helpers.ParameterGradients(optimizer.parameters)" in found
    assert "gradients.add(grads)" in found
    assert "p.grad = p.grad.clamp(min=-1, max=1)" in found
    assert "optimizer(gradients.values)" in found


def test_without_an_optimizer_the_models_that_run_are_trained(port) -> None:
    text, findings = ported(
        port,
        """
        def train(model: nn.Module, loader: DataLoader, lr: float):
            model.train()
            for x, y in loader:
                model.zero_grad()
                loss = F.cross_entropy(model(x), y)
                loss.backward()
                for p in model.parameters():
                    p.data.add_(p.grad, alpha=-lr)
        """,
    )
    assert not findings
    weights = "model.trainable_params()"
    assert f"helpers.value_and_grad(forward_step, None, {weights})" in text
    assert f"gradients = helpers.ParameterGradients({weights})" in text
    assert "gradients.clear()" in text and "p.grad" in text


def test_the_gradient_of_a_plain_tensor_that_adds_up_is_recorded(port) -> None:
    text, findings = ported(
        port,
        """
        def attack(model: nn.Module, x: torch.Tensor, ys: list[torch.Tensor]):
            for y in ys:
                loss = F.cross_entropy(model(x), y)
                loss.backward()
            return x.grad.sign()
        """,
    )
    assert "helpers.backward(loss)" in text and "return x.grad.sign()" in text
    assert any("recorded while the program runs" in f.message for f in findings)


def test_a_loop_over_optimizers_takes_the_gradients_from_the_parameters(port) -> None:
    text, findings = ported(
        port,
        """
        def train(model: nn.Module, loader: DataLoader, optimizers: list[torch.optim.Optimizer]):
            for x, y in loader:
                loss = F.cross_entropy(model(x), y)
                loss.backward()
            for optimizer in optimizers:
                optimizer.step()
        """,
    )
    assert not findings
    assert "optimizer(helpers.ParameterGradients(optimizer.parameters).values)" in text


def test_a_wrapper_gives_what_its_network_gives(port) -> None:
    text, findings = ported(
        port,
        """
        class Net(nn.Module):
            def forward(self, x):
                return x.mean(1), x

        def main(loader: DataLoader, many: bool):
            model = Net()
            if many:
                model = torch.nn.parallel.DistributedDataParallel(model)
            else:
                model = nn.DataParallel(model).cuda()
            train(model, loader, torch.optim.SGD(model.parameters(), lr=0.1))

        def train(model, loader, optimizer):
            model.train()
            for x, y in loader:
                output, features = model(x)
                loss = F.cross_entropy(output, y)
                show(output, features)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()

        def show(output, features):
            print(output.size(0), features.size())
        """,
    )
    assert not findings
    assert "output.shape[0], helpers.Size(features.shape)" in text
    # A result is no model; the wrappers stay, with `.module` and the marks on the parameters.
    assert text.count("set_train()") == 1
    assert "model = helpers.DistributedDataParallel(model)" in text
    assert "model = helpers.DataParallel(model)\n" in text


def test_a_context_that_is_kept_casts_the_models_run_in_it(port) -> None:
    text, findings = ported(
        port,
        """
        def train(model: nn.Module, loader: DataLoader, optimizer: torch.optim.Optimizer, on_cpu):
            ctx = open("x") if on_cpu else torch.autocast("cuda", dtype=torch.float16)
            model.train()
            for x, y in loader:
                optimizer.zero_grad()
                with ctx:
                    loss = F.cross_entropy(model(x), y)
                loss.backward()
                optimizer.step()
        """,
    )
    assert not findings
    assert 'else helpers.autocast("cuda", dtype=mindspore.float16)' in text
    assert "@helpers.autocast.of(ctx)\n    def forward_step" in text and "with ctx" not in text


def test_each_loop_uses_the_gradients_of_its_own_backward_pass(port) -> None:
    text, _ = ported(
        port,
        """
        def train(model: nn.Module, opt: torch.optim.SGD, xs: list[torch.Tensor]):
            for x in xs:
                opt.zero_grad()
                model(x).sum().backward()
                opt.step()
            opt.zero_grad()
            model(xs[0]).mean().backward()
            opt.step()
        """,
    )
    first, _, second = text.partition("def forward_step_2")
    assert "opt(grads)" in first and "grads_2" not in first
    assert "opt(grads_2)" in second


def test_zeros_in_the_place_of_none_are_kept(port) -> None:
    text, _ = ported(
        port,
        """
        def train(model: nn.Module, opt: torch.optim.SGD, xs: list[torch.Tensor]):
            for x in xs:
                opt.zero_grad(set_to_none=False)
                model(x).sum().backward()
                opt.step()
        """,
    )
    assert "clear(set_to_none=False)" in text


def test_an_augmented_assignment_changes_the_leaf_itself(port) -> None:
    text, _ = ported(
        port,
        """
        def fit(x: torch.Tensor):
            w = torch.zeros(3, requires_grad=True)
            for _ in range(3):
                loss = (w * x).sum()
                loss.backward()
                with torch.no_grad():
                    w -= 0.1 * w.grad
                    w.grad.zero_()
            return w
        """,
    )
    assert "helpers.set_value(w, w - (0.1 * w.grad))" in text


def test_the_parameters_of_a_frozen_copy_are_trained_no_more(port) -> None:
    text, _ = ported(
        port,
        """
        def freeze(model: nn.Module):
            for p in model.parameters():
                p.detach_()
        """,
    )
    assert "p.requires_grad = False" in text


def test_an_optimizer_of_a_plain_tensor_records(port) -> None:
    text, findings = ported(
        port,
        """
        def fit(z: torch.Tensor, target: torch.Tensor):
            z.requires_grad_(True)
            opt = torch.optim.SGD([z], lr=0.1)
            for _ in range(3):
                loss = (z - target).pow(2).sum()
                opt.zero_grad()
                loss.backward()
                opt.step()
            return z
        """,
    )
    assert "helpers.backward(loss)" in text and findings


def test_a_hook_on_a_computed_tensor_stays_in_front_of_the_backward_pass(port) -> None:
    text, _ = ported(
        port,
        """
        def train(model: nn.Module, opt: torch.optim.SGD, x: torch.Tensor, seen: list):
            h = model(x)
            h.register_hook(seen.append)
            h.sum().backward()
            opt.step()
        """,
    )
    assert text.index("register_hook") < text.index("helpers.backward(h.sum())")


def test_gradients_that_one_file_clears_and_another_computes(port_files) -> None:
    """timm's NativeScaler: backward and step in a utility, zero_grad in the loop."""
    files = {
        "scaler.py": """\
        import torch

        class NativeScaler:
            def __init__(self):
                self._scaler = torch.amp.GradScaler("cuda")

            def __call__(self, loss, optimizer):
                self._scaler.scale(loss).backward()
                self._scaler.step(optimizer)
                self._scaler.update()
        """,
        "engine.py": """\
        import torch
        from torch import nn

        def train(model: nn.Module, loader, optimizer: torch.optim.Optimizer, scaler, every: int):
            for number, (x, y) in enumerate(loader):
                loss = nn.functional.cross_entropy(model(x), y)
                scaler(loss, optimizer)
                if (number + 1) % every == 0:
                    optimizer.zero_grad()
        """,
    }
    tree = port_files(files, "scaler.py", "engine.py")
    texts = {str(path): ported.text for path, ported in tree.files.items()}
    assert "helpers.ParameterGradients(optimizer.parameters).clear()" in texts["engine.py"]
    assert "helpers.ParameterGradients(optimizer.parameters).values" in texts["scaler.py"]


def test_gradients_at_networks_that_the_optimizer_does_not_train_are_kept_for_who_looks(
    port,
) -> None:
    source = """
        def train(G: nn.Module, D: nn.Module, og: torch.optim.Optimizer, batches):
            for z in batches:
                og.zero_grad()
                loss = D(G(z)).mean()
                loss.backward()
                og.step()
                {look}
        """
    text, _ = ported(port, source.format(look="print(D.head.weight.grad is None)"))
    both = "[*og.parameters, *D.trainable_params(), *G.trainable_params()]"
    assert both in text or both.replace("D.", "X.").replace("G.", "D.").replace("X.", "G.") in text
    assert "og(helpers.ParameterGradients(og.parameters).values)" in lines(text)
    text, _ = ported(port, source.format(look="print(loss.item())"))
    assert "trainable_params" not in text


def test_autocast_in_bfloat16_on_the_cpu_is_a_finding(port) -> None:
    source = "def f(net: nn.Module, x):\n    with {context}:\n        return net(x)\n"
    flagged = ['torch.autocast("cpu")', "torch.autocast(device, dtype=torch.bfloat16)"]
    silent = [
        'torch.autocast("cpu", enabled=False)',
        'torch.autocast("cuda", dtype=torch.bfloat16)',
    ]
    silent += ['torch.autocast("cpu", dtype=torch.float16)', "torch.cuda.amp.autocast()"]
    for context in flagged:
        assert "bfloat16" in str(ported(port, source.format(context=context))[1])
    for context in silent:
        assert not ported(port, source.format(context=context))[1]


def test_the_text_of_an_optimizer_is_a_finding(port) -> None:
    shown = (
        "def f(net: nn.Module):\n    opt = torch.optim.SGD(net.parameters(), lr=1)\n    {show}\n"
    )
    for show in ("print(opt)", "text = f'{opt}'", "print('with', opt)"):
        assert "text of an optimizer" in str(ported(port, shown.format(show=show))[1])
    assert not ported(port, shown.format(show="print(opt.param_groups[0]['lr'])"))[1]


KEPT = """
    def train(net: nn.Module, opt: torch.optim.Optimizer, batches, seen: torch.Tensor):
        center = torch.zeros(4)
        for x, i in batches:
            {start}
            out = net(x)
            center[i] = out.detach().mean(0)
            loss = (out - center).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        {end}
    """


def test_a_tensor_that_the_step_writes_to_comes_out_of_it_where_it_is_read_again(port) -> None:
    text, _ = ported(port, KEPT.format(start="pass", end="return None"))
    assert "return loss, center" in text and "(loss, center), grads = grad_step(" in text
    text, _ = ported(port, KEPT.format(start="center = torch.zeros(4)", end="return center"))
    assert "return loss, center" in text
    text, _ = ported(port, KEPT.format(start="center = torch.zeros(4)", end="return None"))
    assert "return loss\n" in text and "return loss, center" not in text


def test_an_attribute_is_not_changed_behind_the_step_that_reads_it(port) -> None:
    source = """
        class Trainer:
            def __init__(self, net: nn.Module):
                self.net, self.bank = net, torch.zeros(4, 4)
                self.opt = torch.optim.SGD(net.parameters(), 0.1)

            def step(self, x, i):
                z = self.net(x)
                self.{name}[i] = z.detach()
                loss = (z @ self.bank).pow(2).mean()
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
        """
    assert "self.bank is changed by results" in str(ported(port, source.format(name="bank"))[1])
    assert not ported(port, source.format(name="seen"))[1]
