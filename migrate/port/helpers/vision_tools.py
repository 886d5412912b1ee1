"""Small tools of torchvision that have nothing to do with tensors."""


def load_state_dict_from_url(url, *args, **kwargs):
    """A torch checkpoint has to be converted before MindSpore can load it."""
    raise NotImplementedError(
        f"{url} is a torch checkpoint. Download it, convert it with "
        "`ms-migrate weights FILE.pth FILE.ckpt` and call "
        "mindspore.load_checkpoint('FILE.ckpt', model)"
    )


def sequence_to_str(seq, separate_last=""):
    """Quoted words with commas, the last one set off: 'a', 'b' and 'c'."""
    words = [f"'{word}'" for word in seq]
    if len(words) < 2:
        return "".join(words)
    comma = "" if separate_last and len(words) == 2 else ","
    return f"{', '.join(words[:-1])}{comma} {separate_last}{words[-1]}"
