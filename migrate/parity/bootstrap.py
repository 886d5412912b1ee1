"""Start a worker in any interpreter: only the framework, numpy and safetensors need to be
installed there.
"""

import importlib.util
import os
import sys


def find_this_package() -> None:
    """Make `import migrate` find this very package without putting its neighbours on the path."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    here = os.path.join(package, "parity")
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or os.getcwd()) != here]
    spec = importlib.util.spec_from_file_location(
        "migrate", os.path.join(package, "__init__.py"), submodule_search_locations=[package]
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["migrate"] = module
    spec.loader.exec_module(module)


if __name__ == "__main__":
    find_this_package()
    from migrate.parity.worker_main import main

    main(sys.argv[1])
