"""A device is a string that equals torch's names of its kind, in every question that is asked."""

from __future__ import annotations

import textwrap


def test_questions_about_devices_go_through_one_type(port) -> None:
    text = port(
        textwrap.dedent(
            """
            import torch

            def choose(args, x: torch.Tensor):
                device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
                other = torch.device(args.device)
                if device.type == "cuda" and x.device.type != "cpu":
                    torch.cuda.set_device(args.gpu)
                    args.batch_size = int(args.batch_size / torch.cuda.device_count())
                return isinstance(other, torch.device), other == torch.device("cpu"), device.index
            """
        )
    ).text
    assert 'helpers.device_type(device) == "cuda"' in text
    assert 'helpers.device_type(x.device) != "cpu"' in text
    assert "other = helpers.device(args.device)" in text
    assert 'other == helpers.device("cpu")' in text
    assert "helpers.device_count()" in text
    assert "set_device" not in text and "torch" not in text


def test_a_device_that_nobody_asks_for_goes(port) -> None:
    text = port(
        "import torch\n\n"
        "def move(x: torch.Tensor):\n"
        "    device = torch.device('cuda:0')\n"
        "    return x.to(device)\n"
    ).text
    assert "device" not in text


def test_help_is_renamed_in_a_function_without_torch(port) -> None:
    """The guard must know of the edit, or it leaves the whole file as it was."""
    ported = port(
        """\
        import torch

        def options(parser):
            parser.add_argument("--device", default="cpu", help="device (use cuda or cpu)")
            return parser

        def seed():
            torch.manual_seed(0)
        """
    )
    assert not ported.findings
    assert 'help="device (use accelerator or cpu)"' in ported.text
