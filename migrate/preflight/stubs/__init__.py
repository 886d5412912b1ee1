"""Stub libraries in the place of CANN's, so that MindSpore's Ascend backend loads.

Built once for an installation of MindSpore and reused from the cache directory.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from pathlib import Path

from migrate.errors import RequestError
from migrate.preflight.installation import Installation
from migrate.table.cache import directory

# MindSpore 2.7 looks for this name in the path of the library that it has loaded.
CANN = Path("cann", "latest")
_SOURCES = ("build.py", "elf_symbols.py", "elf_writer.py", "libms_migrate_ge.so")


def prepare(installation: Installation) -> Path:
    """The folder with the stub libraries for this installation, built if it is not there."""
    installation.check()
    folder = directory() / "preflight" / f"{installation.version}-{_stamp(installation)}"
    if (folder / CANN / "lib64").is_dir():
        return folder
    from migrate.preflight.stubs.build import build

    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        pending = Path(tempfile.mkdtemp(prefix=".building-", dir=folder.parent))
        try:
            build(installation.package, pending)
            pending.chmod(0o755)
            os.rename(pending, folder)
        except OSError:
            # Another process may have been faster; its result is the same.
            if not (folder / CANN / "lib64").is_dir():
                raise
        finally:
            shutil.rmtree(pending, ignore_errors=True)
    except (OSError, ValueError) as error:
        raise RequestError(
            f"cannot write the stub libraries ({error})",
            where=str(folder.parent),
            next_step="make that folder writable, or choose another with MS_MIGRATE_CACHE",
        ) from error
    return folder


def _stamp(installation: Installation) -> str:
    """Changes with the installed wheel and with the code that builds the stubs."""
    digest = hashlib.sha256(installation.checksum().encode())
    for name in _SOURCES:
        digest.update(Path(__file__).with_name(name).read_bytes())
    return digest.hexdigest()[:16]
