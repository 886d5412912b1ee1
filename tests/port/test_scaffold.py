"""`--scaffold`: the right scripts are launched, and nothing of the user's is replaced."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from migrate.errors import RequestError
from migrate.port.scaffold import LAUNCHER, add_scaffold
from migrate.port.write_output import write_tree

TRAIN = """\
import torch
from torch import nn

def main():
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(2):
        loss = model(torch.ones(1, 2)).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

if __name__ == "__main__":
    main()
"""
OTHER = 'import torch\n\nif __name__ == "__main__":\n    print(torch.ones(1))\n'


def test_training_and_evaluation_are_told_apart(port_files, tmp_path: Path) -> None:
    files = {"p/a.py": OTHER, "p/main.py": TRAIN, "p/test_net.py": OTHER}
    tree = port_files(files, "p")
    add_scaffold(tree)
    assert set(tree.scaffold) == {
        Path("scripts", LAUNCHER),
        Path("scripts/run_standalone_train.sh"),
        Path("scripts/run_distribute_train.sh"),
        Path("scripts/run_eval.sh"),
    }
    assert "$home/main.py" in tree.scaffold[Path("scripts/run_standalone_train.sh")]
    assert "$home/test_net.py" in tree.scaffold[Path("scripts/run_eval.sh")]
    # Every placeholder was filled in.
    assert not any(re.search("@[A-Z]+@", text) for text in tree.scaffold.values())


def test_a_script_that_waits_for_the_flag_gets_it(port_files) -> None:
    flag = 'import argparse\nargparse.ArgumentParser().add_argument("--distributed")\n'
    plain = port_files({"p/train.py": TRAIN}, "p")
    add_scaffold(plain)
    script = Path("scripts/run_distribute_train.sh")
    assert "--distributed" not in plain.scaffold[script]
    asking = port_files({"q/train.py": flag + TRAIN}, "q")
    add_scaffold(asking)
    assert "--script_option=--distributed" in asking.scaffold[script]


def test_nothing_of_the_user_is_replaced(port_files) -> None:
    files = {"p/train.py": TRAIN, "p/scripts/run_standalone_train.sh": "mine\n"}
    with pytest.raises(RequestError, match="would replace"):
        add_scaffold(port_files(files, "p"))


def test_without_a_training_script_the_port_goes_on(port_files) -> None:
    tree = port_files({"p/model.py": "import torch\n"}, "p")
    assert "no training script" in add_scaffold(tree)
    assert not tree.scaffold


def test_the_scripts_are_valid_bash_and_pass_options_on(port_files, tmp_path: Path) -> None:
    tree = port_files({"p/train.py": TRAIN}, "p")
    add_scaffold(tree)
    output = tmp_path / "out with space"
    write_tree(tree, output, force=False)
    scripts = sorted((output / "scripts").glob("*.sh"))
    assert len(scripts) == 2
    for script in scripts:
        subprocess.run(["bash", "-n", script], check=True)
    if shutil.which("shellcheck"):
        subprocess.run(["shellcheck", *scripts], check=True)
    # The launcher answers --help without a framework, through the script, from anywhere.
    asked = subprocess.run(
        [output / "scripts" / "run_standalone_train.sh", "--help"],
        env={"PATH": "/usr/bin:/bin", "PYTHON": sys.executable},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "--device_target" in asked.stdout
    missing = subprocess.run(
        [output / "scripts" / "run_distribute_train.sh", "many"], capture_output=True, check=False
    )
    assert missing.returncode == 2 and b"WORKERS" in missing.stderr


def test_a_script_without_a_guard_is_launched_too(port_files) -> None:
    unguarded = TRAIN.partition("if __name__")[0] + "main()\n"
    tree = port_files({"p/cifar.py": unguarded, "p/model.py": "import torch\n"}, "p")
    add_scaffold(tree)
    assert "$home/cifar.py" in tree.scaffold[Path("scripts/run_standalone_train.sh")]
