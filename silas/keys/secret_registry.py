"""What a running Silas knows about secrets: which there are, and how to keep them out of sight."""

import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import datetime

from silas.errors import ConfigError
from silas.keys.redact import SHORTEST, Redactor
from silas.keys.secrets import SecretVault


class SecretRegistry:
    """Gives secrets to runs, and finds them in what comes out.

    What was once known stays known until the process ends: a secret that was removed meanwhile may
    still be in something that was made with it.
    """

    def __init__(self, vault: SecretVault, now: Callable[[], datetime]) -> None:
        self.vault = vault
        self._now = now
        self._known: dict[str, tuple[str, str]] = {}
        self._redactor = Redactor(())

    def refresh(self) -> None:
        """Learn the secrets that were added since; all of them at the first time.

        Raises:
            ConfigError: One cannot be opened, so it could not be recognised either.
        """
        new = self.vault.refs() - self._known.keys()
        if new:
            self._know(self.vault.values(frozenset(new)))

    def learn(self, values: Mapping[str, str]) -> None:
        """Keep further secrets out of sight, by name; those too short to be told apart are not."""
        long = {name: text for name, text in values.items() if len(text) >= SHORTEST}
        if long:
            self._know({f"value:{name}={text}": (name, text) for name, text in long.items()})

    def _know(self, more: Mapping[str, tuple[str, str]]) -> None:
        self._known.update(more)
        self._redactor = Redactor(self._known.values())

    def missing(self, refs: Mapping[str, str]) -> str:
        """Why a plan cannot have the secrets it names (reference by name), or nothing."""
        return self.vault.missing(refs)

    def document(self, refs: Mapping[str, str]) -> bytes:
        """What a run is given: a JSON object, value by name, of exactly the named secrets.

        Raises:
            ConfigError: One of them is not there any more, or has another name.
        """
        self.refresh()
        why = self.vault.missing(refs)
        if why:
            raise ConfigError(f"Nothing was run: {why}.", code="E_CFG_SECRET")
        for ref_id in refs.values():
            self.vault.record_use(ref_id, self._now())
        return json.dumps({name: self._known[ref_id][1] for name, ref_id in refs.items()}).encode()

    def refs_of(self, names: Iterable[str]) -> dict[str, str]:
        """The references of those secrets of these names that are there now; nothing is opened."""
        wanted = frozenset(names)
        facts = self.vault.facts() if wanted else ()
        return {fact.name: fact.ref_id for fact in facts if fact.name in wanted}

    def values_of(self, names: Iterable[str]) -> dict[str, tuple[str, str]]:
        """Reference and value of secrets by name, as they are now; from now on none is shown.

        Raises:
            ConfigError: One is not there, or cannot be opened.
        """
        wanted = tuple(names)
        refs = self.refs_of(wanted)
        for name in wanted:
            if name not in refs:
                raise ConfigError(
                    f"The secret {name} is not stored; store it first: `silas secrets add {name}`.",
                    code="E_CFG_SECRET",
                )
        self.refresh()
        return {name: (ref, self._known[ref][1]) for name, ref in refs.items()}

    def record_use(self, refs: Iterable[str]) -> None:
        """Remember that these were given away now."""
        for ref_id in refs:
            self.vault.record_use(ref_id, self._now())

    def redact(self, text: str, cut: bool = False) -> str:
        """The text without any secret that is stored by now; see `Redactor.redact`.

        One that was stored by another program since and cannot be opened is found by nobody here;
        whatever runs is told so, by `refresh`.
        """
        with suppress(ConfigError):
            self.refresh()
        return self._redactor.redact(text, cut=cut)

    def redact_begun(self, text: str) -> str:
        """The same of a text that goes on, up to where a secret may have begun."""
        return self._redactor.redact_begun(text)

    def names_in(self, text: str) -> tuple[str, ...]:
        """Which secrets a text holds, by name."""
        return self._redactor.names_in(text)

    def names_in_file(self, chunks: Iterable[bytes]) -> tuple[str, ...]:
        """Which secrets a file holds, by name; nothing is read where there is none to find."""
        return self._redactor.names_in_file(chunks) if self._redactor else ()
