"""torch.save pickles any object; a MindSpore checkpoint holds values, not a model's code."""

from __future__ import annotations

from migrate.resolve.members import is_module_value
from migrate.rewrite.calls.call import Call, Refusal
from migrate.rewrite.rules import becomes, flags, rule


@rule(
    becomes(
        "torch.save(model.state_dict(), 'm.pt')",
        "helpers.save(helpers.state_dict(model), 'm.pt')",
    ),
    flags("torch.save(nn.Linear(2, 3), 'm.pt')", "a whole model cannot be saved"),
)
def save_values(call: Call) -> None:
    if is_module_value(call.type("obj")):
        raise Refusal(
            "a whole model cannot be saved, only its values",
            "save model.state_dict(), and load it into a new model",
            final=True,
        )
