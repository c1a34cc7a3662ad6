"""A word about what just happened lies over nothing that one reads or taps."""

import asyncio

import pytest

from tests.support.waits import SECONDS
from tests.web.support.chromium import in_a_browser
from tests.web.support.cockpit import Cockpit
from tests.web.support.device import PHONE, NewDevice, Size, keep_notices
from tests.web.support.examples import GATE

pytestmark = in_a_browser

SMALL = Size("small phone", 320, 568, True)

LONG = {
    PHONE: "Nobody can be reached at this address just now; look whether it is right, then try.",
    SMALL: "Silas cannot be reached just now. Nothing was changed.",
}

_UNDER = """(note) => {
  const over = note.getBoundingClientRect();
  return [...document.querySelectorAll("h1, h2, p, li, a, button, input, textarea, summary")]
    .filter((node) => !node.closest("#toasts, .brand, .unseen, .skip") && node.checkVisibility())
    .filter((node) => {
      const box = node.getBoundingClientRect();
      return box.left < over.right && over.left < box.right
        && box.top < over.bottom && over.top < box.bottom;
    }).map((node) => node.textContent);
}"""


@pytest.mark.parametrize("size", [PHONE, SMALL], ids=lambda size: size.name)
async def test_a_notice_covers_nothing_on_a_phone(
    cockpit: Cockpit, new_device: NewDevice, size: Size
) -> None:
    device = await cockpit.paired(new_device, size)
    asked = cockpit.asking(GATE)
    await device.sees_a_card(GATE.intent)
    note = device.page.locator(".toast")
    await keep_notices(device.page)
    await device.answers("Go on")
    assert await asyncio.wait_for(asked, SECONDS) == "approve"
    assert "Answered: Go on" in await note.inner_text()
    assert await note.evaluate(_UNDER) == []
    await note.evaluate("(note, text) => { note.textContent = text; }", LONG[size])
    assert await note.evaluate(_UNDER) == []
    box = await note.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["y"] >= 0
