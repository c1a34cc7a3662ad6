"""Every kind of card goes to the page and comes back as the answer that its owner gave."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from typing import Any, NamedTuple

import pytest
import pytest_asyncio
from playwright.async_api import Browser, WebSocketRoute, expect

from silas.cards import Action, Card, PlanAnswer
from silas.cards.models import (
    ALL_CARDS,
    BatchAnswer,
    BatchReviewCard,
    DecisionAnswer,
    DraftAnswer,
    SecureInputCard,
)
from silas.services.secrets import secret_facts
from silas.types import Risk
from tests.support.waits import SECONDS
from tests.web.support.chromium import in_a_browser
from tests.web.support.cockpit import Cockpit, Home, a_cockpit
from tests.web.support.device import (
    DESKTOP,
    PHONE,
    SIZES,
    Device,
    Gesture,
    NewDevice,
    box_of,
    devices,
)
from tests.web.support.examples import BATCH, DECISION, DRAFT, EXAMPLES, FOR_GOOD, GATE, TOOL_CALL

pytestmark = in_a_browser


class Table(NamedTuple):
    """A cockpit, and a phone and a desktop in front of it."""

    cockpit: Cockpit
    phone: Device
    desktop: Device

    async def answer(self, card: Card[Any], device: Device, *labels: str) -> Any:
        """What comes back when the owner presses these, each with its gesture."""
        asked = self.cockpit.asking(card)
        await device.sees_a_card(card.intent)
        for label in labels:
            await device.answers(label)
        return await asyncio.wait_for(asked, SECONDS)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def one_table(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> AsyncGenerator[Table]:
    home = Home(tmp_path_factory.mktemp("cards"))
    async with a_cockpit(home) as cockpit, devices(browser) as new:
        yield Table(cockpit, await cockpit.paired(new, PHONE), await cockpit.paired(new, DESKTOP))


@pytest_asyncio.fixture(loop_scope="session")
async def table(one_table: Table) -> AsyncGenerator[Table]:
    """The one table; nothing is open on it before or after a test."""
    yield one_table
    await one_table.cockpit.withdraw()
    for device in (one_table.phone, one_table.desktop):
        await expect(device.no_card()).to_be_attached()


async def test_there_is_an_example_of_every_card_there_is() -> None:
    assert {type(card) for card in EXAMPLES.values()} == set(ALL_CARDS)


IN_WORDS = (DraftAnswer(verdict="edit"), PlanAnswer(verdict="edit_requested"))
"""Answers that come with words, which other tests give."""


def _plain_answers() -> Iterator[Any]:
    """Every action of every example whose answer is the action's own and nothing more."""
    for name, card in EXAMPLES.items():
        if not isinstance(card, SecureInputCard | BatchReviewCard):
            for action in card.actions:
                if action.value not in IN_WORDS:
                    yield pytest.param(card, action, id=f"{name}: {action.label}")


@pytest.mark.parametrize(("card", "action"), list(_plain_answers()))
async def test_the_answer_is_the_one_that_was_pressed(
    table: Table, card: Card[Any], action: Action[Any]
) -> None:
    assert await table.answer(card, table.desktop, action.label) == action.value
    await expect(table.desktop.no_card()).to_be_attached()
    await expect(table.phone.page.locator(".badge:visible")).to_have_count(0)


_GESTURES: dict[Risk, Gesture] = {
    Risk.low: "tap",
    Risk.medium: "chip",
    Risk.high: "slide",
    Risk.irreversible: "slide",
}


@pytest.mark.proves("S0.5.2-GESTURE-BY-RISK", "S0.5-TAP-FIRST")
@pytest.mark.parametrize("card", list(EXAMPLES.values()), ids=list(EXAMPLES))
async def test_each_card_is_answered_by_touch_with_the_gesture_of_its_risk(
    table: Table, card: Card[Any]
) -> None:
    refusing = isinstance(card, SecureInputCard | BatchReviewCard)  # their yes is another test's
    action = card.actions[-1 if refusing else 0]
    asked = table.cockpit.asking(card)
    await table.phone.sees_a_card(card.intent)
    gesture = await table.phone.answers(action.label)
    assert gesture == ("tap" if refusing else _GESTURES[card.risk])
    assert await asyncio.wait_for(asked, SECONDS) == action.value


async def test_of_a_batch_what_is_unusual_starts_unchosen_and_the_chosen_come_back(
    table: Table,
) -> None:
    asked = table.cockpit.asking(BATCH)
    card = await table.desktop.sees_a_card(BATCH.intent)
    boxes = card.get_by_role("checkbox")
    await expect(boxes).to_have_count(len(BATCH.rows))
    assert [await box.is_checked() for box in await boxes.all()] == [
        not row.unusual for row in BATCH.rows
    ]
    await boxes.nth(0).uncheck()
    await table.desktop.answers("Archive the chosen ones", exact=False)
    assert await asyncio.wait_for(asked, SECONDS) == BatchAnswer(
        verdict="edit_selection", selected_item_ids=("m2", "m3", "m5")
    )


async def test_of_a_batch_all_or_nothing_can_be_said(table: Table) -> None:
    asked = table.cockpit.asking(BATCH)
    card = await table.desktop.sees_a_card(BATCH.intent)
    await card.get_by_role("checkbox").nth(3).check()
    await table.desktop.answers("Archive all")
    assert await asyncio.wait_for(asked, SECONDS) == BATCH.actions[0].value
    assert await table.answer(BATCH, table.desktop, "Archive none") == BATCH.safe


async def test_a_draft_comes_back_in_the_owners_own_words(table: Table) -> None:
    asked = table.cockpit.asking(DRAFT)
    card = await table.desktop.sees_a_card(DRAFT.intent)
    await card.get_by_role("textbox").fill("Hello Marta, thank you.")
    await table.desktop.answers("Send it, as you changed it")
    assert await asyncio.wait_for(asked, SECONDS) == DraftAnswer(
        verdict="edit", edited_text="Hello Marta, thank you."
    )


async def test_a_decision_takes_words_of_the_owners_own_and_never_needs_them(table: Table) -> None:
    asked = table.cockpit.asking(DECISION)
    card = await table.desktop.sees_a_card(DECISION.intent)
    await card.get_by_role("textbox").fill("the shared one")
    await table.desktop.answers("The one of the office")
    assert await asyncio.wait_for(asked, SECONDS) == DecisionAnswer(
        selected_value="office", freetext="the shared one", approved=True, signed=True
    )


async def test_own_words_are_an_answer_by_themselves_and_a_no_sends_none(table: Table) -> None:
    for button, answer in (
        ("Answer in these words", DecisionAnswer(freetext="ask Mia", approved=True, signed=True)),
        (DECISION.actions[-1].label, DECISION.safe),
    ):
        asked = table.cockpit.asking(DECISION)
        card = await table.desktop.sees_a_card(DECISION.intent)
        await card.get_by_role("textbox").fill("ask Mia")
        await table.desktop.answers(button)
        assert await asyncio.wait_for(asked, SECONDS) == answer


@pytest.mark.proves("S0.5.1-ONE-ACTIVE-CARD")
@pytest.mark.parametrize("size", SIZES, ids=lambda size: size.name)
async def test_cards_come_one_at_a_time_with_the_others_counted_and_listed(
    table: Table, size: Any
) -> None:
    device = table.phone if size is PHONE else table.desktop
    cards: tuple[Card[Any], ...] = (GATE, DECISION, TOOL_CALL)
    asked = [table.cockpit.asking(card) for card in cards]
    await device.sees_a_card(GATE.intent)
    await expect(device.at("up-next")).to_have_count(2)
    await expect(device.at("active-card")).to_have_count(1)
    if size.touch:
        await expect(device.page.locator(".badge")).to_have_text("3")
    for card in cards:
        await device.sees_a_card(card.intent)
        await device.declines()
    assert await asyncio.gather(*asked) == [card.safe for card in cards]


@pytest.mark.proves("S0.5.3-MAX-HEIGHT", "S0.5-ONE-SCREEN", "S8.2-CARD-CONTRACT")
@pytest.mark.parametrize("card", list(EXAMPLES.values()), ids=list(EXAMPLES))
async def test_a_card_fits_a_phone_and_its_details_are_open_where_the_risk_is_high(
    table: Table, card: Card[Any]
) -> None:
    asked = table.cockpit.asking(card)
    await table.phone.sees_a_card(card.intent)
    body = await box_of(table.phone.at("card-body"))
    assert body["height"] <= 300
    assert await table.phone.overflow() == 0
    own = {detail.heading: detail.open for detail in card.details}
    grave = card.risk in (Risk.high, Risk.irreversible)
    for part in await table.phone.at("details").locator("details").all():
        heading = (await part.locator("summary").inner_text()).strip()
        if heading in own:
            assert (await part.get_attribute("open") is not None) == (grave or own[heading])
    buttons = table.phone.at("actions").get_by_role("button")
    labels = [action.label for action in card.actions]
    assert await buttons.last.inner_text() == labels[-1]
    await table.phone.declines()
    assert await asyncio.wait_for(asked, SECONDS) == card.safe


@pytest.mark.proves("S0.5.5-IRREVERSIBLE-SAID")
async def test_a_slide_that_is_let_go_or_jumps_confirms_nothing(table: Table) -> None:
    asked = table.cockpit.asking(FOR_GOOD)
    card = await table.desktop.sees_a_card(FOR_GOOD.intent)
    await expect(card).to_contain_text("Cannot be undone")
    await card.get_by_role("button", name="Delete them for good").click()
    box = await box_of(table.desktop.at("slide"))
    y, end = box["y"] + box["height"] / 2, box["x"] + box["width"] - 4
    mouse = table.desktop.page.mouse
    await mouse.click(end, y)  # a tap at the end
    await mouse.move(box["x"] + 20, y)
    await mouse.down()
    await mouse.move(box["x"] + box["width"] / 2, y, steps=10)
    await mouse.up()  # half of the way
    await mouse.move(box["x"] + 20, y)
    await mouse.down()
    await mouse.move(end, y)  # one leap
    await mouse.up()
    assert not asked.done()
    await table.desktop.slides()
    assert await asyncio.wait_for(asked, SECONDS) == "approve"


async def test_a_card_that_was_changed_on_its_way_is_not_signed(
    cockpit: Cockpit, new_device: NewDevice
) -> None:
    device = await new_device(cockpit.origin)

    def alter(route: WebSocketRoute) -> None:
        server = route.connect_to_server()

        def changed(frame: str | bytes) -> None:
            assert isinstance(frame, str)
            route.send(frame.replace("214 mails in the trash", "2 mails in the trash"))

        server.on_message(changed)

    await device.page.route_web_socket("**/ws", alter)
    await device.pair(await cockpit.link())
    asked = cockpit.asking(FOR_GOOD)
    card = await device.sees_a_card("Delete 214 mails for good")
    await expect(card).to_contain_text("not what was sealed")
    yes = card.get_by_role("button", name="Delete them for good")
    await expect(yes).to_have_attribute("aria-disabled", "true")
    await yes.click(force=True)
    await expect(device.at("slide")).to_have_count(0)
    assert not asked.done()
    await device.declines()  # which needs no signature
    assert await asyncio.wait_for(asked, SECONDS) == "block"


async def test_a_secret_goes_into_the_key_store_and_never_over_the_live_connection(
    cockpit: Cockpit, new_device: NewDevice
) -> None:
    device = await new_device(cockpit.origin)
    sent: list[str] = []
    device.page.on("websocket", lambda ws: ws.on("framesent", lambda data: sent.append(str(data))))
    device.page.on(
        "websocket", lambda ws: ws.on("framereceived", lambda data: sent.append(str(data)))
    )
    await device.pair(await cockpit.link())
    command = "(await import('/static/api.js')).command('/secrets', 'secret', label, { label })"
    asked = await device.page.evaluate(f"async (label) => {command}", "SEARCH_KEY")
    card = await device.sees_a_card("SEARCH_KEY")
    await device.at("secret-field").fill("tvly-very-secret-8420")
    await card.get_by_test_id("action-recommended").click()
    await expect(device.no_card()).to_be_attached()
    kept = {facts.name: facts.ref_id for facts in secret_facts(cockpit.config)}
    assert kept == {"SEARCH_KEY": asked["ref_id"]}
    assert sent
    assert not [frame for frame in sent if "very-secret" in frame]
    assert not [url for url in device.requested if "very-secret" in url]
    record = "".join(await cockpit.record())
    assert "very-secret" not in record
    assert '"secret_stored"' in record


_BOTH = pytest.mark.parametrize("first", ["phone", "desktop"])


@_BOTH
async def test_a_card_answered_on_one_device_closes_on_the_other(table: Table, first: str) -> None:
    quick, slow = table.phone, table.desktop
    if first == "desktop":
        quick, slow = slow, quick
    asked = table.cockpit.asking(GATE)
    for device in (quick, slow):
        await device.sees_a_card(GATE.intent)
    await quick.answers("Go on")
    assert await asyncio.wait_for(asked, SECONDS) == "approve"
    for device in (quick, slow):
        await expect(device.no_card()).to_be_attached()
