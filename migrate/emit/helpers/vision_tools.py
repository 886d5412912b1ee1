"""Small tools of torchvision that have nothing to do with tensors."""


def sequence_to_str(seq, separate_last=""):
    """Quoted words with commas, the last one set off: 'a', 'b' and 'c'."""
    words = [f"'{word}'" for word in seq]
    if len(words) < 2:
        return "".join(words)
    comma = "" if separate_last and len(words) == 2 else ","
    return f"{', '.join(words[:-1])}{comma} {separate_last}{words[-1]}"
