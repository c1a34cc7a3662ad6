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
from silas.channels.web.routes_connections import connection_routes
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
    """The endpoints; an application whose `docs_url` is None takes its `routes`.

    Args:
        cockpit: What stands behind them.
        door: The pairing door, for proofs and devices.
        record: While it is found changed, nothing is changed from here.
    """
    prover, refused = Prover(door), refused_while_changed(record)
    router = APIRouter()
    for part in (
        record_routes(cockpit.record, refused),
        work_routes(cockpit.work, prover, refused),
        overview_routes(cockpit.overview, prover, refused),
        memory_routes(cockpit.memory, prover, refused),
        reminder_routes(cockpit.reminders, prover, refused),
        ahead_routes(cockpit.ahead, prover, refused),
        conversation_routes(cockpit.conversations, prover, refused),
        batch_routes(cockpit.batches, prover, refused),
        attachment_routes(cockpit.attachments, prover, refused),
        persona_routes(cockpit.configuration.persona, prover, refused),
        device_routes(door, prover, refused),
        model_routes(cockpit.configuration.answering, prover, refused),
        showing_routes(cockpit.configuration.showing, prover, refused),
        connection_routes(cockpit.configuration.connections, prover, refused),
        settings_routes(cockpit.configuration.settings, prover, refused),
        setup_routes(cockpit.configuration.setup, prover, refused),
        docs_routes(refused),
    ):
        router.routes.extend(part.routes)
    return router
