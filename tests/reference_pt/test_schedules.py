"""Each way down at known points, against torch's own scheduler where it has the same one."""

from itertools import pairwise

import pytest

pytestmark = pytest.mark.frameworks


def rates(schedules, name, total, warmup, lr=0.5, steps=None):
    import torch

    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=lr)
    scheduler = schedules.build_scheduler(optimizer, name, total, warmup)
    seen = []
    for _ in range(total if steps is None else steps):
        seen.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return seen, scheduler


@pytest.mark.parametrize("name", ["cosine", "polynomial", "square", "exponential", "step"])
def test_warm_up_rises_in_a_line_and_then_it_only_falls(load, name):
    seen, _ = rates(load("schedules"), name, total=50, warmup=5)
    assert seen[:6] == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.5, 0.5])
    assert all(later <= earlier for earlier, later in pairwise(seen[5:]))
    assert seen[-1] < 0.05


def test_values_at_known_points(load):
    schedules = load("schedules")
    assert schedules.WarmupCosine(100)(50) == pytest.approx(0.5)
    assert schedules.WarmupCosine(100, end_factor=0.2)(100) == pytest.approx(0.2)
    assert schedules.WarmupPolynomial(100)(25) == pytest.approx(0.75)
    assert schedules.WarmupSquare(110, 10)(60) == pytest.approx(0.25)
    assert schedules.WarmupExponential(100, end_factor=0.01)(50) == pytest.approx(0.1)
    step = schedules.WarmupStep(90)
    assert [step(at) for at in (29, 30, 59, 60, 79, 80)] == pytest.approx(
        [1, 0.1, 0.1, 0.01, 0.01, 0.001]
    )


def test_without_warm_up_cosine_and_step_are_torchs_own(load):
    import torch
    from torch.optim import lr_scheduler

    schedules = load("schedules")

    def theirs(make):
        optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.5)
        scheduler, seen = make(optimizer), []
        for _ in range(27):
            seen.append(optimizer.param_groups[0]["lr"])
            optimizer.step()
            scheduler.step()
        return seen

    assert rates(schedules, "cosine", 27, 0)[0] == pytest.approx(
        theirs(lambda o: lr_scheduler.CosineAnnealingLR(o, T_max=27)), abs=1e-9
    )
    assert rates(schedules, "step", 27, 0)[0] == pytest.approx(
        theirs(lambda o: lr_scheduler.MultiStepLR(o, milestones=[9, 18, 24], gamma=0.1))
    )
    assert rates(schedules, "polynomial", 27, 0)[0] == pytest.approx(
        theirs(lambda o: lr_scheduler.PolynomialLR(o, total_iters=27, power=1.0))
    )


def test_a_resumed_schedule_goes_on_as_it_was_started(load):
    schedules = load("schedules")
    whole, _ = rates(schedules, "cosine", 30, 3)
    _, half = rates(schedules, "cosine", 30, 3, steps=10)
    # Built for another length on purpose: what was saved must win.
    _, resumed = rates(schedules, "cosine", 99, 0, steps=0)
    resumed.load_state_dict(half.state_dict())
    assert resumed.lr_lambdas[0].total_steps == 30
    assert resumed.get_last_lr() == pytest.approx([whole[10]])


def test_bad_requests_are_refused(load):
    schedules = load("schedules")
    with pytest.raises(ValueError, match="10 warm-up steps do not fit into 10 steps"):
        schedules.WarmupCosine(10, 10)
    with pytest.raises(ValueError, match="unknown schedule 'sine'"):
        rates(schedules, "sine", 10, 0)
