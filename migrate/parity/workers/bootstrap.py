"""Start a worker in any interpreter: only the framework, numpy and safetensors need to be
installed there.
"""

import importlib.util
import json
import os
import sys


def find_this_package() -> None:
    """Make `import migrate` find this very package without putting its neighbours on the path."""
    here = os.path.dirname(os.path.abspath(__file__))
    package = os.path.dirname(os.path.dirname(here))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or os.getcwd()) != here]
    spec = importlib.util.spec_from_file_location(
        "migrate", os.path.join(package, "__init__.py"), submodule_search_locations=[package]
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["migrate"] = module
    spec.loader.exec_module(module)


# Unpinned, pip would bring numpy 2, with which mindspore 2.10 fails at run time.
_PINNED = {"numpy": "'numpy>=1.26.4,<2'", "safetensors": "'safetensors>=0.4'"}


def missing(job_path: str) -> "list[str]":
    """What this interpreter would need for its job and does not have."""
    with open(job_path, encoding="utf-8") as file:
        framework = json.load(file)["action"].split("-")[0]
    return [
        name
        for name in ("numpy", "safetensors", framework)
        if importlib.util.find_spec(name) is None
    ]


def leave_word(job_path: str, names: "list[str]") -> None:
    """Say so where the command looks for a worker's last word."""
    needed = " ".join(_PINNED.get(name, name) for name in names)
    word = {
        "kind": "request",
        "stage": "starting",
        "what": "this interpreter has no " + ", ".join(names),
        "where": sys.executable,
        "next_step": f"{sys.executable} -m pip install {needed}, or choose another interpreter "
        "with --torch-python or --ms-python",
        "trace": "",
    }
    with open(os.path.join(os.path.dirname(job_path), "error.json"), "w", encoding="utf-8") as file:
        json.dump(word, file)


if __name__ == "__main__":
    find_this_package()
    from migrate.parity.workers.supervisor import run_below

    run_below()
    lacking = missing(sys.argv[1])
    if lacking:
        leave_word(sys.argv[1], lacking)
        sys.exit(1)
    from migrate.parity.workers.worker_main import main

    main(sys.argv[1])
