"""`try: from torch import X` with a substitute: the name stays for those who need it."""

from __future__ import annotations

from textwrap import dedent


def test_a_substitute_stays_where_the_name_is_used(port) -> None:
    ported = port(
        """\
        try:
            from torch import _assert
        except ImportError:
            def _assert(condition, message):
                assert condition, message


        def check(x):
            _assert(x > 3, "too small")
        """
    )
    assert ported.text == dedent(
        """\
        def _assert(condition, message):
            assert condition, message


        def check(x):
            _assert(x > 3, "too small")
        """
    )


def test_an_import_from_one_place_or_another_is_done(port) -> None:
    ported = port(
        """\
        # weights
        try:
            from torch.hub import load_state_dict_from_url
        except ImportError:
            from torch.utils.model_zoo import load_url as load_state_dict_from_url

        state = load_state_dict_from_url("address")
        """
    )
    assert "try:" not in ported.text
    assert "# weights" in ported.text
    assert 'state = helpers.load_state_dict_from_url("address")' in ported.text


def test_what_follows_an_import_that_works_is_done(port) -> None:
    ported = port(
        """\
        try:
            from torch.optim import AdamW
        except ImportError:
            raise RuntimeError("torch is needed")
        else:
            READY = True
        """
    )
    assert ported.text == "READY = True\n"


def test_flags_beside_the_import_stay(port) -> None:
    source = "try:\n    import torch\n    HAS = True\nexcept ImportError:\n    HAS = False\n"
    assert port(source).text == source.replace("    import torch\n", "")


def test_another_file_needs_the_name(port_files) -> None:
    tree = port_files(
        {
            "pkg/__init__.py": "from .compat import clip\n",
            "pkg/compat.py": """\
            try:
                from torch.nn.functional import relu6 as clip
            except ImportError:
                from .own import clip
            """,
            "pkg/own.py": "def clip(x):\n    return x\n",
        },
        "pkg",
    )
    texts = {str(path): ported.text for path, ported in tree.files.items()}
    assert texts["compat.py"] == "from .own import clip\n" or "clip" not in texts["__init__.py"]
