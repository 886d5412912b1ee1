"""train.py and eval.py run as a user runs them: training learns, resuming goes on, two make one."""

import json
import re

import pytest

from tests.torch_group import run_two

pytestmark = pytest.mark.frameworks

SMALL = ["--arch", "lenet5", "--image-size", "32", "--samples", "128", "--batch-size", "32"]
SHORT = [*SMALL, "--epochs", "4", "--warmup-epochs", "1", "--lr", "0.3", "--print-freq", "2"]


def curve(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_training_learns_and_the_checkpoint_evaluates(run_program, tmp_path):
    printed = run_program("train.py", *SHORT, "--samples", "384", "--log", "whole.jsonl")
    records = curve(tmp_path / "whole.jsonl")
    assert len(records) == 4 * 12
    assert records[-1]["loss"] < 0.5 * records[0]["loss"]
    assert "epoch 4/4  step 12/12  loss" in printed

    printed = run_program(
        "eval.py", *SMALL, "--checkpoint", "checkpoints/best.pt", "--warmup", 2, "--repeats", 5
    )
    assert "parameters  62,006" in printed
    assert float(re.search(r"top-1 +([\d.]+)%", printed)[1]) > 90
    assert "top-5       100.00%" in printed
    assert re.search(r"latency +[\d.]+ ms median, [\d.]+ ms p95, batch 1", printed)


def test_a_resumed_run_repeats_the_curve_of_an_unbroken_one(run_program, tmp_path):
    run_program("train.py", *SHORT, "--log", "whole.jsonl", "--output", "whole")
    run_program("train.py", *SHORT, "--log", "parts.jsonl", "--output", "parts", "--stop-epoch", 2)
    assert len(curve(tmp_path / "parts.jsonl")) == 8
    run_program(
        *["train.py", *SHORT, "--log", "parts.jsonl", "--output", "parts"],
        *["--resume", "parts/last.pt"],
    )
    assert curve(tmp_path / "parts.jsonl") == curve(tmp_path / "whole.jsonl")
    printed = run_program(
        *["train.py", *SMALL, "--arch", "resnet18", "--resume", "parts/last.pt"], expect=1
    )
    assert printed.splitlines() == ["train.py: parts/last.pt holds a lenet5"]


def test_mixed_precision_with_clipping_trains(run_program, tmp_path):
    run_program("train.py", *SHORT, "--amp", "--clip-grad", 5, "--log", "amp.jsonl")
    losses = [record["loss"] for record in curve(tmp_path / "amp.jsonl")]
    assert losses[-1] < losses[0]
    import torch

    saved = torch.load(tmp_path / "checkpoints" / "last.pt", weights_only=True)
    assert saved["scaler"]["scale"] > 0
    assert saved["epoch"] == 4
    no_decay = saved["optimizer"]["param_groups"][1]
    assert no_decay["weight_decay"] == 0.0
    assert len(no_decay["params"]) == 5  # the five biases


def test_two_processes_follow_the_curve_of_one_with_the_double_batch(run_program, tmp_path):
    from migrate.resources import folder

    program = folder("reference_pt") / "train.py"
    common = [*SHORT, "--epochs", "1", "--warmup-epochs", "0", "--no-shuffle"]
    run_program("train.py", *common, "--output", "one")
    halves = ["--output", "two", "--distributed", "--batch-size", "16"]
    run_two(program, *common, *halves, cwd=tmp_path)
    import torch

    one, two = (
        torch.load(tmp_path / name / "last.pt", weights_only=True)["model"]
        for name in ("one", "two")
    )
    # LeNet has no batch statistics, so averaged gradients of halves are the whole's gradient.
    for key, value in one.items():
        torch.testing.assert_close(two[key], value, rtol=1e-4, atol=1e-6)


def test_cifar10_and_image_folders_train(run_program, cifar10, image_folder, tmp_path):
    root, _, _ = cifar10
    printed = run_program(
        *["train.py", "--arch", "lenet5", "--data", "cifar10", "--data-dir", root],
        *["--batch-size", 8, "--epochs", 1, "--print-freq", 1],
        vision=True,
    )
    assert "epoch 1/1  step 5/5" in printed
    printed = run_program(
        *["train.py", "--arch", "resnet18", "--data", "imagenet", "--data-dir", image_folder],
        *["--num-classes", 2, "--batch-size", 4, "--epochs", 1, "--print-freq", 1],
        vision=True,
    )
    assert "epoch 1/1  step 2/2" in printed


def test_fewer_images_than_a_batch_is_one_clear_line(run_program):
    printed = run_program("train.py", *SMALL, "--batch-size", 999, expect=1)
    assert printed.splitlines() == [
        "train.py: fewer training images than one batch; lower --batch-size"
    ]


def test_weights_start_a_run(run_program, load, tmp_path):
    import torch

    weights = load("lenet").lenet5().state_dict()
    torch.save(weights, tmp_path / "start.pt")
    run_program("train.py", *SHORT, "--lr", "0", "--epochs", "1", "--weights", "start.pt")
    saved = torch.load(tmp_path / "checkpoints" / "last.pt", weights_only=True)["model"]
    assert all(torch.equal(saved[key], value) for key, value in weights.items())
