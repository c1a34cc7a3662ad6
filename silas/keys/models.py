"""The `keys:` section of the configuration: where the owner's private key is kept."""

from pathlib import Path
from typing import Literal

from silas.types import FrozenModel


class KeysConfig(FrozenModel):
    """Where the private key lives and what unlocks it (spec 5.8, 11).

    There is deliberately no field for a passphrase or for the name of an environment variable that
    holds one: a passphrase is typed, and an environment is inherited and dumped.

    Attributes:
        backend: `keyring` is the operating system's key store, `file` one encrypted file, `auto`
            the key store where there is a real one, else the file. Once a key was created it stays
            where it is.
        key_file: A file whose bytes unlock the encrypted file, so that no passphrase is asked;
            null asks for a passphrase. Only as safe as the place it is kept in.
        create_key_file: Whether `create` makes `key_file` (32 random bytes, mode 0600) where it
            is missing. Without it a missing key file is an error.
        signer: `inside` keeps the key in the process that runs models and tools; `apart` leaves it
            to `silas signer`, which shows what it signs and asks on a terminal of its own.
        socket: Where a signer apart is reached; relative to `data_dir`.
        signer_user: The user a signer apart runs as; empty for the user of this process.
    """

    backend: Literal["auto", "keyring", "file"] = "auto"
    key_file: Path | None = None
    create_key_file: bool = False
    signer: Literal["inside", "apart"] = "inside"
    socket: Path = Path("signer/silas.sock")
    signer_user: str = ""

    @property
    def places(self) -> tuple[Path, ...]:
        """What no work is shown: a Unix socket is reached through any mount that shows it, and what
        unlocks the key is read through one.
        """
        return (self.socket,) if self.key_file is None else (self.socket, self.key_file)
