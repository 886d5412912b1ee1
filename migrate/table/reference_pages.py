"""Which page of MindSpore's documentation describes the target of a row."""

from __future__ import annotations

from migrate.table.entry import Entry

_DOCUMENTS = "https://www.mindspore.cn/docs/en/master/api_python"
# Where the documentation's folders do not follow the names.
_FOLDERS = {
    "mindspore.Tensor": "mindspore/Tensor",
    "mindspore.dataset.vision": "dataset_vision",
    "mindspore.dataset.transforms": "dataset_transforms",
    "mindspore.experimental.optim": "experimental/optim",
    "mindspore.experimental.optim.lr_scheduler": "experimental/optim",
}


def reference(entry: Entry) -> str:
    """The page that documents the target; MindSpore's pages follow their names."""
    target = entry.main.mindspore
    if entry.reference or not target.startswith("mindspore."):
        return entry.reference
    if entry.kind == "dtype":
        return f"{_DOCUMENTS}/mindspore/mindspore.dtype.html"
    owner = target.rpartition(".")[0]
    if owner.startswith("mindspore.communication"):
        return f"{_DOCUMENTS}/mindspore.communication.html#{target}"
    if owner != "mindspore.Tensor" and owner.rpartition(".")[2][:1].isupper():
        # A member of a class is on the class's page.
        section = owner.split(".")[1] if owner.count(".") > 1 else "mindspore"
        return f"{_DOCUMENTS}/{section}/{owner}.html#{target}"
    section = _FOLDERS.get(owner) or (owner.split(".")[1] if "." in owner else "mindspore")
    return f"{_DOCUMENTS}/{section}/{target}.html"
