"""From bytes on disk to text; each refusal comes with a finding that explains it."""

from __future__ import annotations

import io
import os
import re
import stat
import tokenize
from codecs import BOM_UTF8
from pathlib import Path

from migrate.findings import Finding, make_finding

# Nobody writes 20 MB of Python by hand; tables and bundles that large only cost time and memory.
MAXIMUM_BYTES = 20_000_000
# "coding" in one of the first two lines.
_CODING = re.compile(rb"(?:[^\n]*\n)?[^\n]*coding")


class ReadProblem(Exception):
    """A file cannot be used; the finding says why."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(str(finding))
        self.finding = finding


def read_bytes(path: Path) -> bytes:
    """The file's bytes, if it is an ordinary file of a sane size."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise ReadProblem(_not_ordinary(path))  # opening a device may already act on it
        # What is there may be replaced between the two calls: a pipe must not make us wait.
        with open(path, "rb", buffering=0, opener=_without_waiting) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise ReadProblem(_not_ordinary(path))
            if status.st_size > MAXIMUM_BYTES:
                raise ReadProblem(_too_large(path, status.st_size))
            return file.readall()
    except OSError as error:
        raise ReadProblem(refusal(path, error)) from None


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)


def _not_ordinary(path: Path) -> Finding:
    return make_finding("MS201", path, "is not an ordinary file", "give a file or a directory")


def _too_large(path: Path, size: int) -> Finding:
    limit = f"files above {MAXIMUM_BYTES / 1e6:.0f} MB are not read"
    return make_finding(
        "MS202",
        path,
        f"has {size / 1e6:.0f} MB; {limit}",
        "generated data belongs outside the source tree",
    )


def refusal(path: Path, error: OSError) -> Finding:
    """The system's own reason, in the words it has for it."""
    reason = (error.strerror or str(error)).lower()
    return make_finding("MS201", path, f"cannot be read: {reason}", "check the file's permissions")


def decode(data: bytes, path: Path) -> str:
    """Text as Python itself would read it: byte order mark, PEP 263 declaration, else UTF-8."""
    if b"\0" in data:
        raise ReadProblem(
            make_finding(
                "MS204", path, "holds NUL bytes: not Python source, or UTF-16", "save it as UTF-8"
            )
        )
    try:
        encoding = declared_encoding(data)
        text = data.decode(encoding)
    except SyntaxError as error:
        # An unknown encoding, or bytes that are not UTF-8 in the first two lines.
        reason = str(error.msg)
        if "unknown" not in reason:
            reason = _not_utf8(data)
        raise ReadProblem(make_finding("MS204", path, reason, _DECLARE, line=1)) from None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        reason = f"byte 0x{data[error.start]:02x} is not {encoding}"
        raise ReadProblem(make_finding("MS204", path, reason, _DECLARE, line=line)) from None
    except (LookupError, ValueError, OverflowError, TypeError, AssertionError):
        # rot13, hex and their like are registered as encodings, and are none for text.
        reason = f"{encoding} is not an encoding of text"
        raise ReadProblem(make_finding("MS204", path, reason, _DECLARE, line=1)) from None
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def declared_encoding(data: bytes) -> str:
    """What the bytes say of their encoding; most have neither a byte order mark nor a comment that
    speaks of coding at the top, and are UTF-8 without a tokenizer's help.
    """
    if data.startswith(BOM_UTF8) or _CODING.match(data):
        return tokenize.detect_encoding(io.BytesIO(data).readline)[0]
    return "utf-8"


def encode_like(original: bytes, text: str) -> bytes:
    """`text` in the encoding and with the line ends of the file's bytes; raises UnicodeError.

    An encoding that does not give the original bytes back (utf-7, iso-2022-jp with redundant
    escapes) would change lines that nobody edited, so it is refused.
    """
    encoding, _ = tokenize.detect_encoding(io.BytesIO(original).readline)
    before = original.decode(encoding)
    if before.encode(encoding) != original:
        raise UnicodeError(f"{encoding} does not give its bytes back")
    if b"\r" in original:
        from migrate.files.line_ends import with_line_ends_of

        text = with_line_ends_of(before, text)
    return text.encode(encoding)


_DECLARE = "declare the encoding on line 1 (# -*- coding: latin-1 -*-) or save it as UTF-8"


def _not_utf8(data: bytes) -> str:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return f"byte 0x{data[error.start]:02x} is not utf-8"
    return "the byte order mark and the declared encoding disagree"
