"""What an approval binds besides its plan, as the configuration and this machine have it."""

from typing import TYPE_CHECKING

from silas.approval.rules import authentic
from silas.home.key_vault import open_vault
from silas.home.keyless import PublicKey
from silas.home.sandbox_tools import tool_search
from silas.language.refusal_words import refusal_words
from silas.plans import WorkItem
from silas.plans.binding import Grants, PlanBinding
from silas.plans.goals.lapsed import Lapsed, lapse_words
from silas.sandbox import SandboxLimits
from silas.services.skills.catalogue import owners_key, skill_loader
from silas.services.tools.look_tools import shown_by_work
from silas.services.workers import teams_of, worker_library

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from silas.audit import Audit
    from silas.config import SilasConfig
    from silas.keys import FormerKeys, Signer


def sandbox_limits(config: "SilasConfig") -> SandboxLimits:
    """Memory and processor time of one run, as configured."""
    return SandboxLimits(
        memory_mb=config.sandbox.default_memory_mb,
        cpu_seconds=config.sandbox.default_cpu_seconds,
    )


def lapsed_by(
    binding: PlanBinding, signer: "Signer", former: "FormerKeys", zone: "ZoneInfo"
) -> Lapsed:
    """Says why an approval covers nothing: nobody signed it so, or what it binds is not as it was.

    A signature is checked for each approval that is asked about, which takes a fraction of a
    millisecond; what the database says of an approval is believed of nobody.
    """

    async def why_lapsed(item: WorkItem) -> str:
        token = item.approval_token
        refusal = None if token is None else authentic(token, signer, former, zone)
        if refusal is not None:
            return lapse_words(refusal_words(refusal.reason), refusal.code)
        why = await binding.why_lapsed(item)
        return lapse_words(why) if why else ""

    return why_lapsed


def lapsed_here(config: "SilasConfig", audit: "Audit") -> Lapsed:
    """The same where no sandbox and no model was opened, and no key is unlocked."""
    workers = worker_library(config)
    binding = PlanBinding(
        skill_loader(config, owners_key(config)),
        Grants(
            "",
            sandbox_limits(config),
            shown_by_work(lambda: config.models, workers, lambda: config.mcp_entries),
        ),
        audit,
        teams_of(workers),
        tool_search(config),
    )
    ring = open_vault(config).ring(config.owner_id)
    ring.release()  # nothing is signed, so nothing relies on the key
    return lapsed_by(binding, PublicKey(ring.current), ring, config.scheduler.zone)
