"""Replacing the owner's key: what is known before, and the one step that does it."""

from collections.abc import Callable, Sequence

from silas.keys.key_lock import NoKeyLock
from silas.keys.key_ring import Handover, KeyRing, Succession, succeed
from silas.keys.signer import Ed25519Signer


class Rotation:
    """A key pair about to be replaced, and the one that is to follow it.

    Attributes:
        old, new: The key in force, and the next one, which is nothing until `succeed`.
        ring: The keys as they are.
    """

    def __init__(
        self,
        owner_id: str,
        old: Ed25519Signer,
        new: Ed25519Signer,
        ring: KeyRing,
        keep: Callable[[Sequence[Succession]], None],
    ) -> None:
        self._owner_id = owner_id
        self._keep = keep
        self.old, self.new, self.ring = old, new, ring

    def succeed(self, handover: Handover) -> KeyRing:
        """Put the new key in force; the private half of the old one is kept nowhere any more.

        Raises:
            ConfigError, OSError: The new key could not be kept. The record says which is in force.
        """
        before = self.ring.successions
        successions = (*before, succeed(self._owner_id, self.old, self.new, handover, before))
        # Checked as it will be read, before anything is changed.
        ring = KeyRing(self._owner_id, self.new.public_key, successions, NoKeyLock())
        self._keep(successions)
        return ring
