"""Places where a key can be kept, each opened anew by every `vault`."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from silas.keys import KeysConfig, Vault
from silas.keys.oskeyring import Keyring
from silas.keys.vault import refuse_to_prompt

PASSPHRASE = "correct horse"


class FileStore:
    """A key store that outlives its process: one JSON file, written whole. For tests only."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def _kept(self) -> dict[str, str]:
        return json.loads(self._path.read_text()) if self._path.exists() else {}

    def _keep(self, kept: dict[str, str]) -> None:
        partial = self._path.with_suffix(".new")
        partial.write_text(json.dumps(kept))
        partial.replace(self._path)

    def get_password(self, service: str, username: str) -> str | None:
        return self._kept().get(f"{service}/{username}")

    def set_password(self, service: str, username: str, password: str) -> None:
        self._keep({**self._kept(), f"{service}/{username}": password})

    def delete_password(self, service: str, username: str) -> None:
        kept = self._kept()
        del kept[f"{service}/{username}"]
        self._keep(kept)

    def accounts(self) -> set[str]:
        return set(self._kept())


class Place(NamedTuple):
    """One of `keyring`, `passphrase`, `key file` in a directory."""

    kind: str
    path: Path

    @property
    def keys(self) -> Path:
        return self.path / "keys"

    @property
    def record(self) -> Path:
        return self.keys / "owner.key.json"

    @property
    def store(self) -> FileStore:
        return FileStore(self.path / "store.json")

    def vault(self) -> Vault:
        """A new process's vault."""
        key_file = self.path / "unlock.key" if self.kind == "key file" else None
        config = KeysConfig(key_file=key_file, create_key_file=key_file is not None)
        prompt: Callable[[str], str] = refuse_to_prompt
        if self.kind == "passphrase":
            prompt = _passphrase
        return Vault(config, self.keys, prompt, self._find)

    def _find(self) -> Keyring | None:
        return self.store if self.kind == "keyring" else None


def _passphrase(words: str) -> str:
    return PASSPHRASE


PLACES = ("keyring", "passphrase", "key file")
