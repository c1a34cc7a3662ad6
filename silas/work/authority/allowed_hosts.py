"""Which hosts a run of a task may reach, and the record of what it did there (decision B1)."""

from typing import NamedTuple, assert_never

from silas.audit import Audit
from silas.plans import WorkItem
from silas.plans.allowed_hosts import hosts_of
from silas.sandbox import DeniedTraffic, HostOpened, NetworkEvent, SandboxFiles, Traffic
from silas.work.checks.verify import CheckSetup


class NetworkRecord(NamedTuple):
    """Writes what the proxy of one run tells into the audit, with whose run it is.

    Attributes:
        audit: Where it is written; what cannot be written is not connected.
        work_item_id: Whose work it is.
        purpose: `agent`, or `check NAME`.
    """

    audit: Audit
    work_item_id: str
    purpose: str

    async def __call__(self, event: NetworkEvent) -> None:
        """Write one event. Raises `DatabaseError` where it could not be written."""
        whose = {"work_item_id": self.work_item_id, "purpose": self.purpose}
        match event:
            case HostOpened():
                await self.audit.log("network_opened", **whose, **event._asdict())
            case DeniedTraffic():
                await self.audit.log("network_refused", **whose, **event._asdict())
            case Traffic():
                await self.audit.log("network_used", **whose, **event._asdict())
            case _:
                assert_never(event)


class PlannedNetwork(NamedTuple):
    """What an approved task may reach, as its plan says at this moment."""

    item: WorkItem
    audit: Audit

    def for_agent(self, files: SandboxFiles) -> SandboxFiles:
        """The same files with the hosts of the plan."""
        record = self._record("agent")
        return files.model_copy(update={"network": hosts_of(self.item.network), "record": record})

    def for_checks(self, bench: CheckSetup) -> CheckSetup:
        """The same bench with the hosts of the plan; each check decides for itself."""
        return bench._replace(network=tuple(self.item.network), record=self._record_of_check)

    def _record_of_check(self, name: str) -> NetworkRecord:
        return self._record(f"check {name}")

    def _record(self, purpose: str) -> NetworkRecord:
        return NetworkRecord(self.audit, self.item.id, purpose)
