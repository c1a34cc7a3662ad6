"""What there is in this Silas, for the cockpit: tools, workers, memories, settings, health."""

import asyncio
from collections.abc import Callable
from typing import Final, Protocol

from silas.agents.choice import ModelsConfig
from silas.audit.witnessed_log import WitnessState
from silas.channels.web.views import (
    Doctor,
    FindingView,
    Settings,
    SignedEntry,
    ToolRow,
    WorkerRow,
)
from silas.clock import Clock
from silas.config import SilasConfig
from silas.home.findings import headline, is_ready
from silas.language import COCKPIT, refusal_words, said_at, tr, tr_later, tr_many
from silas.language.titles import tool_title
from silas.services.cockpit.facts import settings_in_force
from silas.services.cockpit.finding_words import on_the_page
from silas.services.doctor.diagnose import diagnose
from silas.services.workers import worker_rows
from silas.tools import ToolRegistry
from silas.tools.registry import tool_rows

_FRESH_SECONDS = 10.0  # a second look within this time gets the same findings

_TELL_NOBODY: Final = tr_later(
    "Signed. Keep this line where this machine cannot write: on paper, or on another machine."
)


class RecordWithWitnesses(Protocol):
    """What is signed at the end of the record, and who is told."""

    async def witness(self) -> str:
        """Tell every witness the newest head, again if need be; returns the head's line."""
        ...

    def witnesses(self) -> list[WitnessState]:
        """How it stands with each configured witness."""
        ...


class OverviewRoom:
    """`silas.channels.web.port.Overview` over the wired parts."""

    def __init__(
        self,
        config: SilasConfig,
        models: Callable[[], ModelsConfig],
        registry: ToolRegistry,
        sandbox: str,
        clock: Clock,
        redact: Callable[[str], str],
        record: RecordWithWitnesses,
    ) -> None:
        self._started_with = config
        self._models = models
        self._registry = registry
        self._sandbox = sandbox
        self._clock = clock
        self._redact = redact
        self._record = record
        self._looking = asyncio.Lock()
        self._looked: tuple[float, Doctor] | None = None

    @property
    def _config(self) -> SilasConfig:
        """What is in force."""
        return self._started_with.model_copy(update={"models": self._models()})

    async def tools(self) -> tuple[ToolRow, ...]:
        """See `Overview.tools`."""
        return tuple(
            ToolRow(
                name=row["name"],
                title=tool_title(row["name"]),
                risk=row["risk"],
                scopes=tuple(row["scopes"]),
                health=row["health"],
                last_error=None
                if row["last_error"] is None
                else self._redact(said_at(COCKPIT, refusal_words(str(row["last_error"])))),
            )
            for row in tool_rows(self._registry)
        )

    async def workers(self) -> tuple[WorkerRow, ...]:
        """See `Overview.workers`. Files are read beside the event loop."""
        rows = await asyncio.to_thread(worker_rows, self._config)
        known = WorkerRow.model_fields
        rows = [{**row, "fault": refusal_words(row["fault"])} for row in rows]
        return tuple(
            WorkerRow.model_validate({name: row[name] for name in row.keys() & known.keys()})
            for row in rows
        )

    async def settings(self) -> Settings:
        """See `Overview.settings`."""
        return settings_in_force(self._config, self._sandbox)

    async def doctor(self) -> Doctor:
        """See `Overview.doctor`. One look at a time, in a thread with a loop of its own.

        It starts programs and reads files, and nobody's turn waits for that.
        """
        async with self._looking:
            now = self._clock.monotonic()
            if self._looked is None or now - self._looked[0] > _FRESH_SECONDS:
                self._looked = (now, await asyncio.to_thread(self._look))
            return self._looked[1]

    async def witness(self) -> SignedEntry:
        """See `Overview.witness`. What it changes is seen by the next look."""
        line = await self._record.witness()
        self._looked = None
        states = self._record.witnesses()
        faults = [f"{one.name}: {refusal_words(one.fault)}" for one in states if one.fault]
        told = len(states) - len(faults)
        words = tr(_TELL_NOBODY)
        if told:
            words = tr_many(
                told,
                "Signed, and {count} witness was told. The same line to keep elsewhere:",
                "Signed, and {count} witnesses were told. The same line to keep elsewhere:",
            )
        return SignedEntry(words=words, line=line, faults=tuple(map(self._redact, faults)))

    def _look(self) -> Doctor:
        found = [on_the_page(one) for one in asyncio.run(diagnose(self._config))]
        rows = tuple(
            FindingView(
                part=one.part,
                ok=one.ok,
                state=one.state,
                words=self._redact(said_at(COCKPIT, one.words)),
            )
            for one in found
        )
        return Doctor(ok=is_ready(found), words=headline(found), findings=rows)
