"""Programs as hypothesis draws them: models and scripts in the spellings people use, with comments
in every place where Python allows one.
"""

from __future__ import annotations

from textwrap import indent

from hypothesis import strategies as st

_NAMES = st.sampled_from(["x", "y", "out", "feats", "h", "size", "n"])
_WORDS = st.sampled_from(["why", "TODO: check", "(B, C, H, W)", "noqa", "type: ignore", "日本"])
_COMMENTS = st.one_of(st.just(""), _WORDS.map(lambda word: f"  # {word}"))
_NUMBERS = st.sampled_from(["0", "1", "-1", "2", "0.5", "n", "1e-3"])

_ATOMS = st.one_of(
    _NAMES, _NUMBERS, st.sampled_from(["x.shape[0]", "self", "None", "'same'", "True"])
)
_TORCH_CALLS = [
    "torch.relu({0})",
    "torch.cat([{0}, {1}], dim=1)",
    "F.relu({0}, inplace=True)",
    "F.interpolate({0}, scale_factor=2, mode='bilinear', align_corners=False)",
    "({0}).view({1}, -1)",
    "({0}).add_({1})",
    "({0}).size(0)",
    "({0}).unsqueeze(-1)",
    "torch.zeros({0}, {1}, device=x.device)",
    "nn.Conv2d({0}, 8, 3, padding=1)",
    "nn.BatchNorm2d({0}, momentum={1})",
    "nn.Sequential(nn.Linear({0}, {1}), nn.ReLU(inplace=True))",
    "torch.nn.functional.softmax({0}, dim=-1)",
    "getattr(nn, 'ReLU')()",
    "torch.no_such_function({0})",
    "({0})[..., ::2, {1}:]",
    "(~({0} > {1})).float()",
]
_PLAIN_CALLS = [
    "len({0})",
    "print({0}, {1})",
    "max({0}, {1})",
    "({0}).append({1})",
    "sorted({0}, key=lambda item: {1})",
    "({0})[{1}]",
    "{{'a': {0}, 'b': [{1}]}}",
    "'%s of %r' % ({0}, {1})",
    "({0} if {1} else None)",
    "[{0} for n in range(3) if {1}]",
]


def _expressions(torch: bool) -> st.SearchStrategy[str]:
    forms = st.sampled_from(_PLAIN_CALLS + (_TORCH_CALLS if torch else []))
    return st.recursive(
        _ATOMS,
        lambda inner: st.one_of(
            st.builds(lambda form, a, b: form.format(a, b), forms, inner, inner),
            st.builds(lambda a, b: f"({a} + {b})", inner, inner),
            st.builds(_spread, inner, _WORDS, inner),
        ),
        max_leaves=4,
    )


def _spread(first: str, comment: str, second: str) -> str:
    """A call on several lines, with comments among its arguments."""
    return f"max(  # {comment}\n    {first},\n    {second},  # last\n)"


def _statements(torch: bool) -> st.SearchStrategy[str]:
    values = _expressions(torch)
    simple = st.one_of(
        st.builds(lambda name, value, c: f"{name} = {value}{c}\n", _NAMES, values, _COMMENTS),
        st.builds(lambda name, value, c: f"{name} += {value}{c}\n", _NAMES, values, _COMMENTS),
        st.builds(lambda value, c: f"print({value}){c}\n", values, _COMMENTS),
        st.builds(lambda c: f"# {c}\n", _WORDS),
        st.just("pass\n"),
    )

    def compound(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        bodies = st.lists(inner, min_size=1, max_size=3).map(_block)
        heads = ["if x is None:", "for n in range(2):", "while False:", "try:"]
        heads += ["with torch.no_grad():", "if isinstance(x, nn.BatchNorm2d):"] if torch else []
        return st.builds(_compound, st.sampled_from(heads), _COMMENTS, bodies, bodies)

    return st.recursive(simple, compound, max_leaves=6)


def _block(statements: list[str]) -> str:
    """Comments alone are no body."""
    return indent("".join(statements) + "pass\n", "    ")


def _compound(head: str, comment: str, body: str, other: str) -> str:
    rest = f"except ValueError:\n{other}" if head == "try:" else ""
    rest = f"else:{comment}\n{other}" if head.startswith("if") else rest
    return f"{head}{comment}\n{body}{rest}"


def _modules(torch: bool) -> st.SearchStrategy[str]:
    bodies = st.lists(_statements(torch), min_size=1, max_size=4).map(_block)
    base = "nn.Module" if torch else "object"
    return st.builds(
        lambda comment, first, second: (
            f"class Net({base}):{comment}\n"
            '    """A model."""\n\n'
            "    def __init__(self, n=3, size=(1, 2)):\n"
            "        super().__init__()\n"
            f"{indent(first, '    ')}\n"
            "    def forward(self, x, y=None):\n"
            f"{indent(second, '    ')}        return x\n"
        ),
        _COMMENTS,
        bodies,
        bodies,
    )


def programs(*, torch: bool) -> st.SearchStrategy[str]:
    """A module docstring, imports, functions and classes."""
    imports = "import os\n"
    if torch:
        imports += (
            "import torch\nimport torch.nn as nn  # layers\nimport torch.nn.functional as F\n"
        )
    bodies = st.lists(_statements(torch), min_size=1, max_size=4).map(_block)
    functions = bodies.map(lambda body: f"def work(x, y, n=1):\n{body}    return x\n")
    parts = st.lists(st.one_of(functions, _modules(torch)), min_size=1, max_size=2)
    return parts.map(lambda found: '"""Drawn."""\n\n' + imports + "\n\n" + "\n\n".join(found))
