"""How every endpoint with data is made: errors are sentences, a session is asked for first.

What is changed while the record is found changed is refused. Each is made once and stands in the
application itself: what is included in another router is made anew for each that includes it, which
was a third of what opening a cockpit takes.
"""

from fastapi import APIRouter, Depends
from fastapi.params import Depends as Dependency

from silas.channels.web.answers import AnsweringRoute
from silas.channels.web.proofs import session_of

Refusing = Dependency
"""Refuses what changes something while the record is found changed; see `record_rule`."""


def endpoints(tag: str, refused: Refusing) -> APIRouter:
    """A router for one group of endpoints.

    Args:
        tag: The group's name in the documentation of the API.
        refused: What each of them asks first.
    """
    return APIRouter(
        tags=[tag], route_class=AnsweringRoute, dependencies=[refused, Depends(session_of)]
    )
