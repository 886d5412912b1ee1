"""The helpers around training and vision, compared with torch in fresh interpreters."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

import migrate

pytestmark = pytest.mark.frameworks
HELPERS = Path(migrate.__file__).parent / "emit" / "helpers"


def answer(run_in_worker, check, *arguments):
    """Run `module.function` beside this file in an interpreter of its own."""
    module, _, name = check.partition(".")
    code = f"from tests.table.{module} import {name}\nresult = {name}(*{arguments!r})"
    # Without TorchDynamo: torchvision would compile its stand-in for roi_align for minutes.
    return run_in_worker(code, env={"TORCHDYNAMO_DISABLE": "1"})


def largest(differences: dict[str, float], bound: float) -> None:
    """All differences within the bound, and none of them forgotten."""
    assert differences
    wrong = {name: value for name, value in differences.items() if not value <= bound}
    assert not wrong, wrong


# Optimizers and schedules -----------------------------------------------------------------------


@pytest.mark.parametrize("jit", [False, True])
def test_optimizers_follow_torch(run_in_worker, jit):
    largest(answer(run_in_worker, "training_checks.optimizer_differences", jit), 2e-6)


def test_schedules_follow_torch_and_resume(run_in_worker):
    largest(answer(run_in_worker, "training_checks.schedule_differences"), 2e-6)


@pytest.mark.parametrize(
    "kinds",
    [
        ("SGD", "Adam", "AdamW", "RMSprop"),
        ("Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam"),
        ("ASGD", "Rprop", "Adafactor", "Muon"),
    ],
    ids=lambda kinds: kinds[0],
)
def test_optimizer_state_continues_where_it_was_saved(run_in_worker, kinds):
    answers = answer(run_in_worker, "training_checks.resumed_optimizers", *kinds)
    assert tuple(answers) == kinds
    for name, (whole, resumed, theirs, after_torch) in answers.items():
        for place in range(3):
            np.testing.assert_array_equal(resumed[place], whole[place], name)
            # Muon's iteration amplifies rounding.
            bound = 1e-3 if name == "Muon" else 3e-6
            for one in (whole, after_torch):
                np.testing.assert_allclose(one[place], theirs[place], bound, bound, err_msg=name)


# Vision blocks ----------------------------------------------------------------------------------


def test_vision_blocks_have_torchvisions_gradients(run_in_worker):
    largest(answer(run_in_worker, "vision_checks.block_differences"), 1e-4)


def test_boxes_losses_and_regions_agree(run_in_worker):
    largest(answer(run_in_worker, "vision_checks.region_differences"), 1e-5)


def test_weights_metadata_and_layer_getter(run_in_worker):
    answers = answer(run_in_worker, "vision_checks.weights_and_layers")
    assert len(answers) == 7 and all(answers.values()), answers


def test_functions_that_keep_nan_have_torchs_gradients(run_in_worker):
    largest(answer(run_in_worker, "nan_checks.gradient_differences"), 1e-5)


# Data -------------------------------------------------------------------------------------------


def test_loader_gives_torchs_batches(run_in_worker):
    answers = answer(run_in_worker, "training_checks.loader_agreement")
    assert len(answers) == 14 and all(answers.values()), answers


def test_loader_of_earlier_releases_gives_torchs_batches(run_in_worker):
    answers = answer(run_in_worker, "training_checks.threaded_loader_agreement")
    assert len(answers) == 8 and all(answers.values()), answers


def test_transforms_give_torchvisions_pixels(run_in_worker):
    largest(answer(run_in_worker, "vision_checks.transform_differences"), 1e-6)


# Distributions ----------------------------------------------------------------------------------


def test_distributions_agree(run_in_worker):
    largest(answer(run_in_worker, "training_checks.distribution_differences"), 5e-6)


# The helper files themselves --------------------------------------------------------------------


def test_helper_names_are_told_apart():
    """All helpers may land in one module: two definitions of one name would clash."""
    defined: dict[str, set[str]] = defaultdict(set)
    imported: dict[str, set[str]] = defaultdict(set)
    mine = ("optim_", "vision_", "data_", "distributions", "train_", "torch_signature")
    for path in HELPERS.glob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                defined[node.name].add(path.name)
            elif isinstance(node, ast.ImportFrom) and not str(node.module).startswith("migrate"):
                for alias in node.names:
                    imported[alias.asname or alias.name].add(path.name)
    clashes = {
        name: sorted(files | imported.get(name, set()))
        for name, files in defined.items()
        if (len(files) > 1 or name in imported) and any(f.startswith(mine) for f in files)
    }
    assert not clashes
