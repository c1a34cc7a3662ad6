"""What the other devices are told when one more is paired."""

from collections.abc import Callable

from silas.channels.web.events import DevicePaired
from silas.channels.web.pages import Pages
from silas.channels.web.session import WebSession

_MAY = {"owner": "can say yes for you", "auth": "can ask, look and stop"}


def telling_of_newcomers(pages: Pages) -> Callable[[WebSession], None]:
    """Tells every page that is connected; the new one is not yet."""

    def tell(session: WebSession) -> None:
        words = (
            f"{session.device} was paired just now and {_MAY[session.level]}. If that was not you, "
            "remove it under More, Devices."
        )
        pages.all(DevicePaired(words=words).model_dump_json())

    return tell
