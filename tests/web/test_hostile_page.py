"""Another origin's page in the owner's own browser tries everything such pages can try (B6)."""

from collections.abc import AsyncGenerator

import pytest
import pytest_asyncio
from playwright.async_api import Page

from silas.cards.models import GateCard
from silas.testing.cards import a_card
from tests.web.support.chromium import in_a_browser
from tests.web.support.cockpit import Cockpit
from tests.web.support.device import PATIENCE_MS, Device, NewDevice
from tests.web.support.hostile import HostilePlace, hostile_place

pytestmark = in_a_browser

_STEPS = """
async ([target, socket]) => {
  const within = (promise) => Promise.race([
    promise, new Promise((resolve) => setTimeout(() => resolve('silence'), 3000))]);
  const read = async (path, options) => {
    try {
      const answer = await fetch(target + path, { credentials: 'include', ...options });
      return answer.type === 'opaque' ? 'opaque' : 'read ' + answer.status + await answer.text();
    } catch { return 'blocked'; }
  };
  const load = (tag, name, path, more = {}) => within(new Promise((resolve) => {
    const node = Object.assign(document.createElement(tag), more, { [name]: target + path });
    node.onload = () => resolve('loaded');
    node.onerror = () => resolve('blocked');
    document.body.append(node);
  }));
  const speak = (url, protocols) => within(new Promise((resolve) => {
    const ws = new WebSocket(url, protocols);
    ws.onopen = () => resolve('open');
    ws.onmessage = ({ data }) => resolve('told ' + data);
    ws.onerror = ws.onclose = () => resolve('blocked');
  }));
  const json = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{}' };
  const plain = { method: 'POST', headers: { 'Content-Type': 'text/plain' }, body: '{}' };
  const token = { headers: { 'X-Silas-Page': 'guess' } };
  return {
    'read work': await read('/work'),
    'read the transcript': await read('/transcript'),
    'read health': await read('/health'),
    'read with a header': await read('/work', token),
    'stop by fetch': await read('/stop', json),
    'stop without preflight': await read('/stop', { ...plain, mode: 'no-cors' }),
    'pair without preflight': await read('/pair', { ...plain, mode: 'no-cors' }),
    'secret without preflight': await read('/secrets/ref', { ...plain, mode: 'no-cors' }),
    'beacon': navigator.sendBeacon(target + '/stop', '{}') ? 'opaque' : 'blocked',
    'script': await load('script', 'src', '/static/app.js', { type: 'module' }),
    'plain script': await load('script', 'src', '/static/app.js'),
    'style': await load('link', 'href', '/static/style.css', { rel: 'stylesheet' }),
    'picture': await load('img', 'src', '/static/icons/icon-192.png'),
    'socket': await speak(socket + '/ws'),
    'socket with a protocol': await speak(socket + '/ws', 'guess'),
  };
}
"""
"""Nothing in here may be read: `opaque` is an answer that the page cannot look into."""

_FORM = """
([target, path, encoding]) => {
  const form = Object.assign(document.createElement('form'),
    { method: 'POST', action: target + path, enctype: encoding, target: '_self' });
  const field = Object.assign(document.createElement('input'),
    { name: '{"value":"', value: 'x"}', type: 'hidden' });
  form.append(field);
  document.body.append(form);
  form.submit();
}
"""


@pytest_asyncio.fixture(loop_scope="session")
async def place() -> AsyncGenerator[HostilePlace]:
    async with hostile_place() as served:
        yield served


_ORIGINS = ("neighbour", "stranger")


@pytest.fixture(params=_ORIGINS)
def origin(place: HostilePlace, request: pytest.FixtureRequest) -> str:
    """Another port of the same host, which gets our cookies, and another host, which does not."""
    return str(getattr(place, request.param))


async def _tab(device: Device, url: str) -> Page:
    device.expects_anything()  # what a hostile page causes is not the cockpit's fault
    tab = await device.context.new_page()
    await tab.goto(url)
    return tab


async def test_a_page_of_another_origin_reads_nothing_and_does_nothing(
    cockpit: Cockpit, new_device: NewDevice, origin: str
) -> None:
    device = await cockpit.paired(new_device)
    waiting = cockpit.asking(a_card(GateCard))
    await device.sees_a_card()
    before = await cockpit.events()
    tab = await _tab(device, origin)
    socket = cockpit.origin.replace("http", "ws")
    outcome: dict[str, str] = await tab.evaluate(_STEPS, [cockpit.origin, socket])
    assert {name: what for name, what in outcome.items() if what not in ("blocked", "opaque")} == {}
    for path in ("/stop", "/resume", "/devices/link", "/secrets/ref", "/onboarding"):
        for encoding in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
            await tab.goto(origin)
            async with tab.expect_navigation():
                await tab.evaluate(_FORM, [cockpit.origin, path, encoding])
    assert not waiting.done()
    assert not cockpit.stopped()
    assert cockpit.channel.transcript.newest() == 0
    after = set((await cockpit.events())[len(before) :])
    assert after <= {"web.refused", "web.limited"}, after
    await device.declines()
    assert await waiting == "block"


async def test_no_page_shows_the_cockpit_inside_itself(
    cockpit: Cockpit, new_device: NewDevice, place: HostilePlace
) -> None:
    device = await cockpit.paired(new_device)
    for name in _ORIGINS:
        origin = getattr(place, name)
        place.html = (
            f"<!doctype html><title>hostile</title><iframe src='{cockpit.origin}/'></iframe>"
            f"<iframe src='{origin}/own'></iframe>"
        )
        tab = await _tab(device, origin)
        await tab.wait_for_load_state("load")
        shown = [frame.url for frame in tab.frames if frame.parent_frame is not None]
        assert f"{origin}/own" in shown, name
        assert not [url for url in shown if url.startswith(cockpit.origin)], name
        await tab.close()


async def test_a_page_that_opens_the_cockpit_gets_no_hold_of_it(
    cockpit: Cockpit, new_device: NewDevice, place: HostilePlace
) -> None:
    device = await cockpit.paired(new_device)
    for name in _ORIGINS:  # which one it is stands in the address of the page that fails
        tab = await _tab(device, getattr(place, name))
        async with device.context.expect_page() as opening:
            await tab.evaluate("(url) => { window.held = window.open(url); }", f"{cockpit.origin}/")
        opened = await opening.value
        # A window is there, and held, before what it was opened for has answered.
        await tab.wait_for_function("window.held.closed", timeout=PATIENCE_MS)
        await opened.wait_for_url(f"{cockpit.origin}/**", timeout=PATIENCE_MS)
        await opened.wait_for_function("window.opener === null", timeout=PATIENCE_MS)
        for page in (opened, tab):
            await page.close()


async def test_the_cookie_that_another_server_on_this_machine_is_sent_opens_no_data(
    cockpit: Cockpit, new_device: NewDevice, place: HostilePlace
) -> None:
    device = await cockpit.paired(new_device)
    await _tab(device, place.neighbour)
    stolen = [line for head in place.heard for line in head.splitlines() if "silas_session" in line]
    assert stolen, "a browser sends its cookies to every port of a host; this test is about that"
    cookie = stolen[0].partition(":")[2].strip()
    for path in ("/work", "/activity", "/transcript", "/devices", "/settings", "/memory?q=a"):
        assert (await cockpit.http("GET", path, cookie=cookie)).status in (401, 403)
    for path in ("/stop", "/resume", "/devices/link", "/secrets/ref"):
        assert (await cockpit.http("POST", path, cookie=cookie, body={})).status in (401, 403)
    assert await cockpit.socket_says(cookie=cookie, token="guess") == 4001
