"""How the record stands, on the pages that are there already: each device keeps its newest head."""

from collections.abc import Callable

from silas.channels.web.events import RecordEvent
from silas.channels.web.pages import Pages


def telling_of_the_record(pages: Pages) -> Callable[[str, str], None]:
    """What the record tells of each signed head and of a change, as a frame on every page."""

    def tell(changed: str, head: str) -> None:
        pages.all(RecordEvent(changed=changed, head=head).model_dump_json())

    return tell
