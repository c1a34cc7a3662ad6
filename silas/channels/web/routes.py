"""Every HTTP endpoint of the cockpit that has data, as one router.

The guard stands before it: a session in `request.state.session` is what each route asks for first,
and without one it answers nothing.
"""

from fastapi import APIRouter

from silas.channels.web.docs_page import docs_routes
from silas.channels.web.port import Cockpit, Door
from silas.channels.web.proofs import Prover
from silas.channels.web.record_rule import WholeRecord, refused_while_changed
from silas.channels.web.routes_ahead import ahead_routes
from silas.channels.web.routes_attachments import attachment_routes
from silas.channels.web.routes_batches import batch_routes
from silas.channels.web.routes_conversations import conversation_routes
from silas.channels.web.routes_memory import memory_routes
from silas.channels.web.routes_models import model_routes
from silas.channels.web.routes_overview import overview_routes, persona_routes
from silas.channels.web.routes_record import record_routes
from silas.channels.web.routes_reminders import reminder_routes
from silas.channels.web.routes_settings import settings_routes
from silas.channels.web.routes_setup import device_routes, setup_routes
from silas.channels.web.routes_showing import showing_routes
from silas.channels.web.routes_work import work_routes


def cockpit_routes(cockpit: Cockpit, door: Door, record: WholeRecord) -> APIRouter:
    """The endpoints; include them in an application whose `docs_url` is None.

    Args:
        cockpit: What stands behind them.
        door: The pairing door, for proofs and devices.
        record: While it is found changed, nothing is changed from here.
    """
    prover = Prover(door)
    router = APIRouter()
    for part in (
        record_routes(cockpit.record),
        work_routes(cockpit.work, prover),
        overview_routes(cockpit.overview),
        memory_routes(cockpit.memory, prover),
        reminder_routes(cockpit.reminders, prover),
        ahead_routes(cockpit.ahead, prover),
        conversation_routes(cockpit.conversations, prover),
        batch_routes(cockpit.batches, prover),
        attachment_routes(cockpit.attachments, prover),
        persona_routes(cockpit.persona, prover),
        device_routes(door, prover),
        model_routes(cockpit.answering, prover),
        showing_routes(cockpit.showing, prover),
        settings_routes(cockpit.settings, prover),
        setup_routes(cockpit.setup, prover),
        docs_routes(),
    ):
        router.include_router(part, dependencies=[refused_while_changed(record)])
    return router
