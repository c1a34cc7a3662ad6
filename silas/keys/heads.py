"""Which entry of the record was signed last, so that no earlier one is signed again."""

import json
import os
from pathlib import Path
from typing import NamedTuple

from nacl.utils import random

from silas.canonical import canonical_json
from silas.errors import ConfigError
from silas.keys.files import read_private, write_new


class SignedHead(NamedTuple):
    """An entry of the record: its number from 1 (0 for an empty record) and its hash."""

    seq: int
    entry_hash: str


class SignedHeads:
    """The newest entry that was signed, in a file of the signer's.

    The signer does not see the entries, so it cannot tell whether a later one follows from it; that
    is what the chain is checked for. It refuses what would go back.
    """

    def __init__(self, path: Path) -> None:
        """Read it. Raises `ConfigError` where the file is not what was written."""
        self._path = path
        self._newest = _read(path) if path.exists() else SignedHead(0, "")

    def advance(self, head: SignedHead) -> str:
        """Remember a head before it is signed; words if it must not be."""
        newest = self._newest
        if head == newest:
            return ""
        if head.seq > newest.seq or newest.entry_hash == "":
            self._write(head)
            self._newest = head
            return ""
        return (
            f"entry {newest.seq} of the record was signed already, and this would put another or "
            f"an earlier one in its place; if you restored a backup, end the signer, delete "
            f"{self._path} and start it again"
        )

    def _write(self, head: SignedHead) -> None:
        partial = self._path.with_name(f"{self._path.name}.{random(8).hex()}")
        write_new(partial, canonical_json(head._asdict()).encode())
        os.replace(partial, self._path)


def _read(path: Path) -> SignedHead:
    try:
        said = json.loads(read_private(path))
        return SignedHead(int(said["seq"]), str(said["entry_hash"]))
    except (ValueError, TypeError, KeyError) as error:
        raise ConfigError(
            f"{path} is damaged, so the signer does not know what it signed last; restore it, or "
            "delete it if the record is in order.",
            code="E_CFG_SIGNER",
        ) from error
