"""What the other devices are told when one more is paired."""

from collections.abc import Callable

from silas.channels.web.events import DevicePaired
from silas.channels.web.pages import Pages
from silas.channels.web.session import WebSession
from silas.language import tr, tr_later

_SAID = {
    "owner": tr_later(
        "{device} was paired just now and can say yes for you. If that was not you, remove it "
        "under More, Devices."
    ),
    "auth": tr_later(
        "{device} was paired just now and can ask, look and stop. If that was not you, remove it "
        "under More, Devices."
    ),
}


def telling_of_newcomers(pages: Pages) -> Callable[[WebSession], None]:
    """Tells every page that is connected; the new one is not yet."""

    def tell(session: WebSession) -> None:
        words = tr(_SAID[session.level], device=session.device)
        pages.all(DevicePaired(words=words).model_dump_json())

    return tell
