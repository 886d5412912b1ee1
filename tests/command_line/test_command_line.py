"""The command line: suggestions, help, configuration, completion, JSON of failures, stdin."""

from __future__ import annotations

import argparse
import io
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from migrate import cli
from migrate.command_line import config
from migrate.command_line.examples import EXAMPLES


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.py").write_text("import torch\n\n\ndef f():\n    return torch.ones(2)\n")
    return tmp_path


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    with pytest.raises(SystemExit) as ended:
        cli.main(words)
    assert ended.value.code == 2
    return capsys.readouterr().err


def test_suggestions(capsys: pytest.CaptureFixture[str]) -> None:
    assert "did you mean analyze?" in refused(capsys, "anlyze", "net.py")
    assert "did you mean --format?" in refused(capsys, "analyze", "net.py", "--formt", "json")
    assert "no option --formt: did" in refused(capsys, "analyze", "net.py", "--formt", "json")
    assert "unexpected argument: b" in refused(capsys, "capture", "torch", "a", "-o", "x", "b")
    assert "did you mean json?" in refused(capsys, "analyze", "net.py", "--format", "jsn")
    shown = refused(capsys, "port", "net.py", "--chekc")
    assert "did you mean --check?" in shown
    assert len(shown.splitlines()) == 2  # not buried under the usage
    assert "rewrite PyTorch source" in refused(capsys)  # no command: all of them


def test_a_path_that_was_probably_meant_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "models").mkdir()
    for words in (["analyze"], ["port", "--check"]):
        assert cli.main([*words, str(tmp_path / "modles")]) == 2
        assert f"did you mean {tmp_path / 'models'}?" in capsys.readouterr().err
    assert cli.main(["analyze", str(tmp_path / "none" / "x.py")]) == 2
    assert f"there is no folder {tmp_path / 'none'} either" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["analyze", ""],
        ["port", "", "--in-place"],  # of `port "$DIR" --in-place` without the variable
        ["port", "net.py", "-o", ""],
        ["port", "net\0.py", "--check"],
    ],
)
def test_an_empty_path_is_not_the_current_folder(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert "path" in refused(capsys, *words)


@pytest.mark.parametrize("command", sorted(cli.COMMANDS))
def test_help_shows_examples_that_parse(command: str) -> None:
    _, own = cli.build_parser(command)
    shown = own.format_help()
    assert "examples:" in shown
    assert "--verbose" in shown
    assert "--quiet" in shown
    for words, what in EXAMPLES[command]:
        assert what in shown
        typed = shlex.split(words.partition(" < ")[0].partition(" >> ")[0].partition(" -- ")[0])
        parsed, unknown = cli.build_parser(command)[0].parse_known_args(typed)
        assert (parsed.command, unknown) == (command, [])


@pytest.mark.parametrize("command", sorted(cli.COMMANDS))
def test_help_tells_every_default(command: str) -> None:
    _, own = cli.build_parser(command)
    shown = " ".join(own.format_help().split())
    for action in own._actions:
        if action.option_strings and action.default not in (None, False, "", [], "==SUPPRESS=="):
            told = f"default: {action.default}" in shown or f"({action.default}" in shown
            assert told or "default" in (action.help or ""), action.option_strings
        assert action.help, action


def test_configuration(elsewhere: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (elsewhere / "old.py").write_text("import torch\nx = torch.nonesuch(2)\n")
    assert cli.main(["analyze", ".", "-q"]) == 1
    config = elsewhere / "pyproject.toml"
    config.write_text('[tool.ms-migrate]\nexclude = ["old.py"]\n[tool.ms-migrate.analyze]\n'
                      'format = "json"\nmin-status = "missing"\n')  # fmt: skip
    capsys.readouterr()
    assert cli.main(["analyze", "."]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["options"]["min_status"] == "missing"
    assert document["summary"]["files"] == 1
    assert cli.main(["analyze", ".", "--format", "text", "--no-config", "-q"]) == 1
    capsys.readouterr()
    assert cli.main(["analyze", ".", "-v"]) == 0
    assert "configuration from" in capsys.readouterr().err
    # In a folder below, too; another command passes over settings that it does not have.
    (elsewhere / "src").mkdir()
    os.chdir(elsewhere / "src")
    assert cli.main(["analyze", "..", "-q"]) == 0
    assert cli.main(["explain", "MS307", "-q"]) == 0


@pytest.mark.parametrize("section", ["ms-migrate", "tool:ms-migrate"])
def test_setup_cfg(section: str, elsewhere: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (elsewhere / "setup.cfg").write_text(
        f"[{section}]\nexclude =\n    a_b.py\n    old\nexit-zero = true\n"
        f"[{section}:port]\ntarget = mint\n"
    )
    options = cli._parse(["port", "net.py", "--check"], "port")
    assert (options.exclude, options.exit_zero) == (["a_b.py", "old"], True)
    assert options.target == "mint"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[tool.ms-migrate]\nexlude = ['a']\n", "did you mean exclude?"),
        ("[tool.ms-migrate.analyse]\nmode = 'graph'\n", "did you mean analyze?"),
        ("[tool.ms-migrate.analyze]\nmdoe = 'graph'\n", "did you mean mode?"),
        ("[tool.ms-migrate]\nmode = 'grpah'\n", "did you mean graph?"),
        ("[tool.ms-migrate\n", "cannot be read"),
        ("[tool.ms-migrate]\nexclude = [3]\n", "3 is not a string"),
        ("[tool.ms-migrate]\nexit-zero = 'maybe'\n", "'maybe' is neither true nor false"),
        ("[tool.ms-migrate]\nmode = []\n", "takes one value, not a list"),
    ],
)
def test_a_wrong_configuration_is_refused(
    elsewhere: Path, text: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (elsewhere / "pyproject.toml").write_text(text)
    assert cli.main(["analyze", "net.py"]) == 2
    shown = capsys.readouterr().err
    assert "pyproject.toml" in shown
    assert said in shown


@pytest.mark.parametrize(
    ("command", "setting"),
    [
        ("analyze", "output = '../elsewhere'"),
        ("analyze", "write-baseline = true"),
        ("port", "force = true"),
        ("port", "in-place = true"),
        ("port", "output = '../out'"),
        ("parity", "torch-python = './evil'"),
        ("parity", "ms-loss = 'evil.py:loss'"),
        ("parity", "report = 'x.html'"),
        ("weights", "model = 'evil.py:net'"),
        ("doctor", "python = './evil'"),
        ("preflight", "keep = '../logs'"),
    ],
)
def test_a_file_cannot_say_what_is_run_or_written(
    elsewhere: Path, command: str, setting: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (elsewhere / "pyproject.toml").write_text(f"[tool.ms-migrate.{command}]\n{setting}\n")
    words = {"parity": ["a.py:f", "b.py:f"], "weights": ["a.pth", "b.ckpt"], "doctor": []}
    assert cli.main([command, *words.get(command, ["net.py"])]) == 2
    assert "on the command line" in capsys.readouterr().err


@pytest.mark.parametrize("place", ["../known.json", "/etc/known.json", "a/../../known.json"])
def test_a_configured_baseline_stays_in_its_folder(
    elsewhere: Path, place: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (elsewhere / "pyproject.toml").write_text(f"[tool.ms-migrate]\nbaseline = '{place}'\n")
    assert cli.main(["analyze", "net.py", "--write-baseline"]) == 2
    assert "outside" in capsys.readouterr().err
    assert not (elsewhere.parent / "known.json").exists()


def test_a_configured_baseline_is_found_from_a_folder_below(
    elsewhere: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (elsewhere / "pyproject.toml").write_text("[tool.ms-migrate]\nbaseline = 'known.json'\n")
    (elsewhere / "sub").mkdir()
    (elsewhere / "sub/net.py").write_text("import torch\ny = torch.foo(3)\n")
    assert cli.main(["analyze", "sub/net.py", "--write-baseline"]) == 0
    assert "wrote 1 finding to known.json" in capsys.readouterr().err
    monkeypatch.chdir(elsewhere / "sub")
    assert cli.main(["analyze", "net.py"]) == 0
    assert "1 in the baseline" in capsys.readouterr().out


@pytest.mark.parametrize("text", ["ms-migrate = " + "[" * 5000, "x" * 6_000_000])
def test_a_configuration_that_is_no_such_thing(
    elsewhere: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (elsewhere / "pyproject.toml").write_text(text)
    assert cli.main(["analyze", "net.py"]) == 2
    assert "pyproject.toml" in capsys.readouterr().err


# A new option is safe in a file that came with a tree, or belongs to config.COMMAND_LINE_ONLY.
HARMLESS = frozenset(
    """
    amp assumptions atol check classes diff eval explain-passes explain-plan factor format fresh
    from helpers images
    init input input-shape keep-counters keep-prefix keep-random key lines loss map memory-limit
    min-status noise-runs optimizer pixels quick quiet ranks rtol scaffold seed soc stale steps
    style submodule timeout to verbose whole with-torchvision
    """.split()  # noqa: SIM905
)


@pytest.mark.parametrize("command", cli.COMMANDS)
def test_every_option_is_known_to_be_safe_in_a_file_or_not(command: str) -> None:
    own = cli.build_parser(command)[1]
    named = {
        word[2:] for action in own._actions for word in action.option_strings if word[1] == "-"
    }
    assert named <= HARMLESS | set(config.SHARED) | config.COMMAND_LINE_ONLY


@pytest.mark.parametrize(
    "words",
    [
        ("analyze", "absent.py"),
        ("port", "absent.py", "--check"),
        ("lookup", "torch.nn.Conv2dd"),
        ("explain", "MS999"),
        ("parity", "net.py:f", "net.py:f"),
        ("compare", "absent", "absent"),
        ("verify", "torch.absent"),
    ],
)
def test_a_failure_is_json_where_json_was_asked_for(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    if words[0] in ("parity", "compare", "verify"):
        pytest.importorskip("torch")
    if words[0] == "verify":
        pytest.skip("starts both frameworks; tests/verify covers its documents")
    code = cli.main([*words, "--format", "json"])
    document = json.loads(capsys.readouterr().out)
    assert code == document["exit_code"] == 2
    assert document["schema"] == f"ms-migrate/{words[0]}"
    assert document["error"]["message"]
    assert set(document["error"]) == {"message", "where", "next_step"}


def test_a_wrong_option_is_json_too(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["ms-migrate", "analyze", "x", "--format", "json", "--nope"])
    with pytest.raises(SystemExit):
        cli.main()
    document = json.loads(capsys.readouterr().out)
    assert (document["exit_code"], document["schema"]) == (2, "ms-migrate/analyze")


def test_a_wrong_configuration_is_json_too(
    elsewhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (elsewhere / "pyproject.toml").write_text("[tool.ms-migrate]\nexlude = ['a']\n")
    assert cli.main(["analyze", "net.py", "--format", "json"]) == 2
    document = json.loads(capsys.readouterr().out)
    assert "exlude" in document["error"]["message"]


def test_a_directory_that_is_gone(
    elsewhere: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (elsewhere / "gone").mkdir()
    monkeypatch.chdir(elsewhere / "gone")
    (elsewhere / "gone").rmdir()
    assert cli.main(["analyze", str(elsewhere / "net.py")]) == 2
    assert "current directory does not exist any more" in capsys.readouterr().err


def test_standard_input(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = b"import torch\n\nx = torch.cat([torch.ones(2)], dim=0)\n"

    def feed() -> None:
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(text)))

    here = os.getcwd()
    feed()
    assert cli.main(["port", "-"]) == 0
    shown = capsys.readouterr()
    assert "import mindspore" in shown.out or "from mindspore import" in shown.out
    assert "import torch" not in shown.out
    compile(shown.out, "stdin.py", "exec")
    feed()
    assert cli.main(["analyze", "-", "--format", "json"]) == 0
    assert '"path": "stdin.py"' in capsys.readouterr().out
    assert os.getcwd() == here
    feed()
    assert cli.main(["analyze", "-", "net.py"]) == 2
    assert cli.main(["port", "-", "--in-place"]) == 2
    assert cli.main(["port", "net.py"]) == 2
    assert "-o DIR" in capsys.readouterr().err


def test_colours(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    for choice, colored in (("always", True), ("never", False), ("auto", False)):
        cli.main(["analyze", "net.py", "--color", choice])
        assert ("\x1b[" in capsys.readouterr().out) == colored
    assert "FORCE_COLOR" not in os.environ


def test_completion(elsewhere: Path) -> None:
    def completed(line: str) -> list[str]:
        answer = elsewhere / "answer"
        environment = {
            **os.environ,
            "_ARGCOMPLETE": "1",
            "_ARGCOMPLETE_STDOUT_FILENAME": str(answer),
            "_ARGCOMPLETE_IFS": "\n",
            "COMP_LINE": line,
            "COMP_POINT": str(len(line)),
        }
        subprocess.run([sys.executable, "-m", "migrate"], env=environment, check=False, timeout=60)
        return [word.strip() for word in answer.read_text().splitlines()]

    assert completed("ms-migrate ana") == ["analyze"]
    assert "--ms-version" in completed("ms-migrate analyze --ms")
    assert completed("ms-migrate port net.py --target t") == ["torch-npu"]


def test_arguments_are_checked_before_the_work(
    capsys: pytest.CaptureFixture[str], elsewhere: Path
) -> None:
    pytest.importorskip("numpy")
    pair = ["parity", "net.py:f", "net.py:f", "--input", "2"]
    assert cli.main([*pair, "--report", "/nosuch/x.html"]) == 2
    assert "its directory does not exist" in capsys.readouterr().err
    assert cli.main(["parity", "net.py:ff", "net.py:f", "--input", "2"]) == 2
    shown = capsys.readouterr().err
    assert "did you mean f?" in shown
    assert shown.count("'ff'") == 1


def test_start_up_is_quick() -> None:
    """What the command imports before it knows what is asked for."""
    code = (
        "import sys, migrate.cli; print(len([m for m in sys.modules if m.startswith('migrate')]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code + "; assert 'rich' not in sys.modules; assert 'libcst' not in "
         "sys.modules; assert 'argcomplete' not in sys.modules"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert int(done.stdout) < 20


@pytest.mark.parametrize("command", cli.COMMANDS)
def test_common_options_are_heard_before_and_behind_the_command(command: str) -> None:
    def read(*words: str) -> argparse.Namespace:
        given = argparse.Namespace(**cli._NOT_GIVEN)
        return cli.build_parser(command)[0].parse_known_args(words, given)[0]

    needed = {
        "parity": ["a.py:Net", "b.py:Net", "--input", "1"],
        "capture": ["torch", "a.py:Net", "--input", "1", "-o", "step"],
        "compare": ["a", "b"],
        "weights": ["a", "b"],
        "lookup": ["F.relu"],
        "analyze": ["."],
        "port": ["."],
        "preflight": ["a.py:Net"],
        "completion": ["bash"],
    }.get(command, [])
    assert read(command, *needed).quiet is False
    assert read("-q", command, *needed).quiet is True
    assert read(command, *needed, "-q").quiet is True
