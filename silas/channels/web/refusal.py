"""What the door says no with."""

from typing import NamedTuple

from silas.language import tr, tr_later

CLOSED_ALREADY = tr_later("This question is closed already.")
NOT_OFFERED = tr_later("This card does not offer that answer; reload the page.")
_NO_KEY = tr_later(
    "Only a device with a key of its own can agree to this; pair this browser again, or say no."
)
BAD_SIGNATURE = tr_later(
    "The signature on your message does not fit; reload the page and say it again."
)
STALE = "it is stale"
"""Of a proof whose moment is not that of the clock that approvals go by."""

_OTHER_CLOCK = tr_later(
    "Your yes came with another time than approvals go by, so nothing was done. Look at the clocks "
    "of this device and of the machine that Silas runs on; “What protects you” under “More” says "
    "what the latter has."
)
_NO_PROOF = tr_later(
    "Your device's signature does not count ({why}), so nothing was done; reload the page and try "
    "again."
)


def proof_words(why: str | None) -> str:
    """What somebody is told whose yes does not count, and what to do.

    Args:
        why: What the door says of its proof; None where there is none.
    """
    if why is None:
        return tr(_NO_KEY)
    return tr(_OTHER_CLOCK) if why == STALE else tr(_NO_PROOF, why=why)


class HttpRefusal(NamedTuple):
    """One no.

    Attributes:
        status: The HTTP status.
        code: `E_CHANNEL_*`.
        message: One sentence that says what to do.
        reason: For the record; empty where nobody need know, because it is every day's.
    """

    status: int
    code: str
    message: str
    reason: str
