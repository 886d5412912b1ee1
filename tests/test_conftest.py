"""The fixtures other tests stand on: a worker answers, fails loudly, and cannot hang a run."""

import pytest


def test_a_function_gets_its_arguments_and_returns_its_answer(run_in_worker):
    def double(values, *, plus):
        import os

        return [2 * value + plus for value in values], os.getpid()

    import os

    values, process = run_in_worker(double, [1, 2], plus=3)
    assert values == [5, 7]
    assert process != os.getpid()


def test_source_text_answers_through_result(run_in_worker):
    assert run_in_worker("result = 6 * 7") == 42


def test_an_exception_shows_its_traceback(run_in_worker):
    with pytest.raises(AssertionError, match="ZeroDivisionError"):
        run_in_worker("1 / 0")


def test_a_crash_is_a_failure(run_in_worker):
    with pytest.raises(AssertionError, match="exit code -11"):
        run_in_worker("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")


def test_an_answer_survives_a_crash_at_exit(run_in_worker):
    code = """
    import atexit, os, signal
    atexit.register(lambda: os.kill(os.getpid(), signal.SIGSEGV))
    result = "kept"
    """
    assert run_in_worker(code) == "kept"


def test_a_hang_ends(run_in_worker):
    with pytest.raises(AssertionError, match="no answer within"):
        run_in_worker("import time; time.sleep(60)", timeout=1)


def test_a_plain_run_keeps_its_verdict_when_the_interpreter_crashes_on_its_way_out(tmp_path):
    import subprocess
    import sys
    from pathlib import Path

    conftest = Path(__file__).with_name("conftest.py").read_text()
    (tmp_path / "conftest.py").write_text(conftest)
    (tmp_path / "test_crash.py").write_text(
        "import atexit, os, signal, sys\n"
        "def test_it():\n"
        "    sys.modules['mindspore'] = object()\n"
        "    atexit.register(lambda: os.kill(os.getpid(), signal.SIGSEGV))\n"
    )
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:xdist"], cwd=tmp_path)
    assert done.returncode == 0
