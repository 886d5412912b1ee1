"""`port --data native`: loaders as pipelines of mindspore.dataset, where all of it is known."""

import json
from pathlib import Path

import pytest

from migrate.cli import main
from migrate.table.native_data import native_data

HEAD = """\
import torch
from torch.utils.data import DataLoader, RandomSampler, Subset
from torchvision import datasets, transforms

steps = transforms.Compose([transforms.RandomCrop(32, padding=4), transforms.ToTensor()])
train = datasets.ImageFolder("data", steps)
"""


def ported(folder: Path, body: str, *options: str, head: str = HEAD) -> str:
    """The ported file; the summary is on standard output."""
    source, out = folder / "train.py", folder / "out"
    source.write_text(head + body)
    arguments = ["port", str(source), "-o", str(out), "--force", "--data", "native", "-q"]
    main([*arguments, *options, "--format", "json"])
    return (out / "train.py").read_text()


def notes(capsys: pytest.CaptureFixture[str]) -> list[str]:
    document = json.loads(capsys.readouterr().out)
    return [note["text"] for file in document["files"] for note in file["notes"]]


def test_a_pipeline_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body = (
        "loader = DataLoader(train, batch_size=32, shuffle=True, num_workers=4, drop_last=True)\n"
    )
    text = ported(tmp_path, body)
    assert "steps = [vision.Decode(), vision.RandomCrop(32, padding=4), vision.ToTensor()]" in text
    assert "ds.ImageFolderDataset(" in text and "EpochOrder(train, shuffle=True)" in text
    assert ".batch(32, drop_remainder=True)" in text
    assert notes(capsys) == ["a pipeline of mindspore.dataset reads ImageFolder"]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("loader = DataLoader(train, 32, collate_fn=len)\n", "collate_fn is given"),
        ("loader = DataLoader(train, batch_size=None)\n", "batch_size is None"),
        ("loader = DataLoader(train)\nprint(train[0])\n", "the dataset is also used in line 8"),
        ("loader = DataLoader(Subset(train, [1]))\n", "no pipeline reads Subset"),
        ("loader = DataLoader(train)\nx = steps(1)\n", "the transform is also used in line 8"),
        ("loader = DataLoader(train)\nx = loader.dataset[0]\n", "samples are taken"),
        ("def get():\n    return train\nloader = DataLoader(train)\n", "also used in line 8"),
        ("train.samples = train.samples[:9]\nloader = DataLoader(train)\n", "used in line 7"),
        ("loader = DataLoader(train, 8, num_workers=min(2, 3))\n", "computed in the call"),
        ("options = {}\nloader = DataLoader(train, **options)\n", "only known at run time"),
    ],
)
def test_what_a_pipeline_cannot_give_stays(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], body: str, reason: str
) -> None:
    text = ported(tmp_path, body)
    assert "PipelineLoader" not in text and "steps = helpers.Compose(" in text
    found = notes(capsys)
    assert len(found) == 1 and reason in found[0]
    exact = found[0].startswith("exact path: ")
    assert f"helpers.{'' if exact else 'Native'}DataLoader(" in text


def test_other_pixels_are_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    head = HEAD.replace("RandomCrop(32, padding=4)", "RandomResizedCrop(224)")
    body = "loader = DataLoader(train, 32)\n"
    kept = ported(tmp_path, body, head=head)
    assert "[vision.Decode(to_pil=True), vision.RandomResizedCrop(224)," in kept
    assert "`--pixels close`" in notes(capsys)[0]
    taken = ported(tmp_path, body, "--pixels", "close", head=head)
    assert "[vision.RandomCropDecodeResize(224), vision.ToTensor()]" in taken
    assert "pixels are not torchvision's" in notes(capsys)[0]


def test_another_dataset_on_one_way(tmp_path: Path) -> None:
    body = """\
import sys
if sys.argv[1:]:
    train = datasets.FakeData(8, transform=transforms.ToTensor())
loader = DataLoader(train, 4)
"""
    assert "helpers.NativeDataLoader(train, 4)" in ported(tmp_path, body)
    assert "helpers.NativeDataLoader(train, 4, close=True)" in (
        ported(tmp_path, body, "--pixels", "close")
    )


def test_a_dataset_made_in_the_call(tmp_path: Path) -> None:
    made = 'DataLoader(datasets.MNIST("d", transform=transforms.ToTensor()), 8)\n'
    text = ported(tmp_path, f"loader = {made}")
    assert 'dataset = helpers.MNIST("d", transform=[vision.ToTensor()])' in text
    assert "ds.MnistDataset(" in text and "dataset.raw_folder," in text
    text = ported(tmp_path, f"loaders = [{made.strip()} for _ in range(2)]\n")
    assert "helpers.NativeDataLoader(helpers.MNIST(" in text


def test_exact_is_the_default(tmp_path: Path) -> None:
    source = tmp_path / "train.py"
    source.write_text(HEAD + "loader = DataLoader(train, 32)\n")
    main(["port", str(source), "-o", str(tmp_path / "out"), "-q"])
    assert "helpers.DataLoader(train, 32)" in (tmp_path / "out" / "train.py").read_text()


@pytest.mark.parametrize(
    "options", [["--pixels", "close"], ["--data", "native", "--target", "mint"]]
)
def test_options_that_contradict(tmp_path: Path, options: list[str]) -> None:
    source = tmp_path / "train.py"
    source.write_text(HEAD)
    assert main(["port", str(source), "--check", *options]) == 2


def test_the_earlier_name_of_vendored(tmp_path: Path) -> None:
    source = tmp_path / "train.py"
    source.write_text(HEAD)
    assert main(["port", str(source), "--check", "-q", "--helpers", "module"]) == 0


def test_grey_levels_are_those_that_were_measured() -> None:
    results = Path(__file__).resolve().parents[2] / "docs" / "results" / "data_pixels.json"
    measured = json.loads(results.read_text(encoding="utf-8"))["transforms"]
    stated = {
        name.rpartition(".")[2]: fact.grey_levels
        for name, fact in native_data()[1].items()
        if not fact.needs
    }
    assert stated == measured
