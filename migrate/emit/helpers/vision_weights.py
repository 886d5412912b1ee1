"""Published torch weights, once they have been converted."""

import os
from pathlib import Path

import mindspore


def load_state_dict_from_url(
    url,
    model_dir=None,
    map_location=None,
    progress=True,
    check_hash=False,
    file_name=None,
    weights_only=False,
):
    """The converted checkpoint of a published one, from the folder that MS_WEIGHTS names.

    MindSpore does not read torch's files, so nothing is downloaded here.
    """
    file = Path(file_name or url.rpartition("/")[2])
    path = Path(
        model_dir or os.environ.get("MS_WEIGHTS", "weights"), file.with_suffix(".ckpt").name
    )
    if not path.is_file():
        raise FileNotFoundError(
            f"{path} is not there: download {url}, convert it with "
            f"`ms-migrate weights {file} {path}`, and set MS_WEIGHTS to the folder of such files"
        )
    return mindspore.load_checkpoint(str(path))
