"""Run programs of tests/training/style in one framework, and record what they train.

style_run.py FOLDER OUT.json torch|pynative|graph NAME...    losses of all steps, weights at the end
"""

import importlib
import json
import sys
from typing import Any


def _record_torch(losses: list[float]) -> None:
    import torch

    plain = torch.Tensor.backward

    def backward(loss: Any, *args: Any, **options: Any) -> None:
        losses.append(float(loss.detach()))
        plain(loss, *args, **options)

    torch.Tensor.backward = backward  # type: ignore[method-assign]


def _record_mindspore(losses: list[float], mode: str) -> None:
    import mindspore
    from mindspore import train

    mindspore.set_context(mode=mindspore.GRAPH_MODE if mode == "graph" else mindspore.PYNATIVE_MODE)

    class Recorder(train.Callback):  # type: ignore[misc]
        def on_train_step_end(self, run_context: Any) -> None:
            losses.append(float(run_context.original_args().net_outputs.asnumpy()))

    for name in ("train", "fit"):
        plain = getattr(train.Model, name)

        def recorded(
            model: Any, *args: Any, plain: Any = plain, callbacks: Any = (), **options: Any
        ) -> None:
            plain(model, *args, callbacks=[Recorder(), *callbacks], **options)

        setattr(train.Model, name, recorded)


def _weights(model: Any) -> list[list[float]]:
    if hasattr(model, "get_parameters"):
        values = {p.name: p.asnumpy() for p in model.get_parameters()}
        names = {"gamma": "weight", "beta": "bias", "moving_mean": "running_mean"}
        names["moving_variance"] = "running_var"
        found = {}
        for name, value in values.items():
            owner, _, last = name.rpartition(".")
            found[f"{owner}.{names.get(last, last)}"] = value
    else:
        found = {name: value.numpy() for name, value in model.state_dict().items()}
        found = {name: value for name, value in found.items() if value.ndim}
    return [found[name].ravel().tolist() for name in sorted(found)]


def main(folder: str, out: str, mode: str, *names: str) -> None:
    losses: list[float] = []
    if mode == "torch":
        _record_torch(losses)
    else:
        _record_mindspore(losses, mode)
    sys.path.insert(0, folder)
    results = {}
    for name in names:
        losses.clear()
        print("==", name, flush=True)
        model = importlib.import_module(name).main()
        results[name] = {"losses": list(losses), "weights": _weights(model)}
    with open(out, "w", encoding="utf-8") as file:
        json.dump(results, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
