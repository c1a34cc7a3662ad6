"""A real phone, as far as a machine of the tests can be one: another network, a browser that was
made to trust the authority, and Silas at the other end of a cable."""

import asyncio
import os
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Error, expect

from tests.support.phone import authority_of
from tests.web.support.chromium import LIGHT, chromium, in_a_browser
from tests.web.support.cockpit import Cockpit, Home, a_cockpit
from tests.web.support.device import DESKTOP, PHONE, Device, devices
from tests.web.support.library import COPY
from tests.web.support.namespace import (
    Machine,
    chromium_there,
    in_a_second_namespace,
    second_machine,
    trusts_an_authority,
)

pytestmark = [*in_a_browser, in_a_second_namespace, trusts_an_authority]

MOST_TAPS = 6
"""From the pairing code to the first approval, trusting the authority apart."""

_COUNTS = "addEventListener('pointerdown', (e) => { if (e.isTrusted) tapped(); }, true)"


@pytest.fixture(scope="session")
def machine() -> Iterator[Machine]:
    """One for all tests of a phone, there before any browser is: a browser ends the connections of
    its pages when a cable comes or goes.
    """
    with second_machine() as made:
        yield made


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser(machine: Machine) -> AsyncGenerator[Browser]:
    """At the desk."""
    del machine  # it is there, that is all
    async with chromium(LIGHT) as started:
        yield started


@pytest_asyncio.fixture(loop_scope="session")
async def at_home(machine: Machine, home: Home) -> AsyncGenerator[Cockpit]:
    """A cockpit whose phone comes by the first cable."""
    more: dict[str, Any] = {
        "SILAS_CHANNELS__WEB__PHONE__ADDRESS": machine.near_link,
        "SILAS_CHANNELS__WEB__PHONE__PORT": 0,
        "SILAS_CHANNELS__WEB__PHONE__CERTIFICATE_PORT": 0,
    }
    async with a_cockpit(home, **more) as running:
        yield running


def get(path: str, host: str, *headers: str) -> str:
    return "\r\n".join(
        (f"GET {path} HTTP/1.1", f"Host: {host}", "Connection: close", *headers, "", "")
    )


def status(answer: str) -> int:
    return int(answer.split()[1]) if answer.startswith("HTTP/") else 0


async def taps(device: Device) -> list[int]:
    """How often the screen is touched from now on, on whatever page."""
    count = [0]

    def tapped() -> None:
        count[0] += 1

    await device.context.expose_function("tapped", tapped)  # pyright: ignore[reportUnknownMemberType] - playwright leaves it open
    await device.context.add_init_script(_COUNTS)
    return count


async def test_from_the_pairing_code_to_the_first_approval_in_at_most_six_taps(
    at_home: Cockpit, machine: Machine, browser: Browser, tmp_path: Path
) -> None:
    async with devices(browser) as at_the_service:
        service = await at_home.paired(at_the_service, DESKTOP)
        await service.goes_to("more")
        await service.page.get_by_role("link", name="Devices").click()
        await service.at("phone-open").click()
        await expect(service.page.get_by_role("img", name="QR code of the page")).to_be_visible()
        view = await at_home.running.phone.state()
        await expect(service.page.locator(".phone")).to_contain_text(view.fingerprint)
        await service.at("phone-pair").click()
        code = service.page.get_by_role("img", name="QR code of the pairing link")
        await expect(code).to_be_visible()
        link = await service.page.locator(".phone .link-place .fingerprint").inner_text()
        assert link.startswith(f"https://{machine.near}:")
        assert not await service.violations()
        await service.comes_back()
        await service.says(COPY)
        await service.sees_a_card("Copy the notes")
        authority = tmp_path / "authority.pem"
        authority.write_bytes(authority_of(at_home.config.data_dir))
        folder = tmp_path / "there"
        folder.mkdir()
        async with chromium_there(machine, folder, [authority]) as there, devices(there) as new:
            phone = await new(view.origin, PHONE)
            count = await taps(phone)
            count[0] += 1  # on what the camera shows of the code
            await phone.page.goto(link)
            await phone.at("pair").click()
            await phone.is_connected()
            await phone.sees_a_card("Copy the notes")
            await phone.answers("Approve and run once")
            assert count[0] <= MOST_TAPS, count
            await phone.goes_to("stream")
            await expect(phone.at("result")).to_contain_text("Done")
            assert await phone.page.evaluate("isSecureContext && location.protocol") == "https:"
            assert not await phone.overflow()
    assert at_home.home.result.read_text() == "as it was\n"
    [_, device] = at_home.running.door.devices()
    assert device.level == "owner"


@asynccontextmanager
async def a_phone(at_home: Cockpit, machine: Machine, folder: Path) -> AsyncGenerator[Device]:
    """One that is paired, and whose page's time passes when the test says so."""
    view = await at_home.running.phone.open(None, "")
    authority = folder / "authority.pem"
    authority.write_bytes(authority_of(at_home.config.data_dir))
    async with chromium_there(machine, folder, [authority]) as there, devices(there) as new:
        phone = await new(view.origin, PHONE)
        phone.expects_anything()
        await phone.page.clock.install()
        await phone.pair((await at_home.running.phone.link()).link)
        yield phone


async def says_something(at_home: Cockpit, phone: Device, text: str) -> None:
    """It is heard on the phone, by a connection that is alive."""
    arrived = phone.page.locator(".from-owner:has(time)").filter(has_text=text)
    await phone.says(text)
    await expect(arrived).to_have_count(1)
    said = [one for one in at_home.channel.transcript.after(0, 50).kept if one.type == "message"]
    assert [one.text for one in said if one.sender == "owner"][-1] == text


async def test_a_phone_that_leaves_its_network_and_comes_back_goes_on_by_itself(
    at_home: Cockpit, machine: Machine, tmp_path: Path
) -> None:
    async with a_phone(at_home, machine, tmp_path) as phone:
        link = phone.page.locator("#link")
        for text in ("once", "twice"):
            machine.moves("down")
            await expect(link).to_have_attribute("data-link", "lost")
            machine.moves("up")
            await phone.is_connected()
            await says_something(at_home, phone, text)


async def test_a_phone_whose_network_goes_without_a_word_notices_and_comes_back(
    at_home: Cockpit, machine: Machine, tmp_path: Path
) -> None:
    async with a_phone(at_home, machine, tmp_path) as phone:
        machine.loses()
        await phone.page.clock.run_for(15_000)
        await phone.page.clock.run_for(10_000)
        await expect(phone.page.locator("#link")).to_have_attribute("data-link", "lost")
        machine.delivers()
        await phone.page.clock.run_for(15_000)
        await phone.is_connected()
        await says_something(at_home, phone, "there again")


async def test_a_browser_that_was_not_made_to_trust_it_is_not_let_through(
    at_home: Cockpit, machine: Machine, tmp_path: Path
) -> None:
    view = await at_home.running.phone.open(None, "")
    async with chromium_there(machine, tmp_path, []) as there:
        page = await there.new_page()
        await page.goto(view.steps)
        await expect(page.get_by_role("heading", name="Let this phone trust Silas")).to_be_visible()
        await expect(page.get_by_text(view.fingerprint)).to_be_visible()
        async with page.expect_download() as started:
            await page.get_by_text("Download the certificate").click()
        assert (await started.value).suggested_filename == "silas-authority.crt"
        with pytest.raises(Error, match="ERR_CERT_AUTHORITY_INVALID"):
            await page.goto(view.origin)


async def test_from_another_machine_nothing_is_reached_but_what_was_opened(
    at_home: Cockpit, machine: Machine, tmp_path: Path
) -> None:
    loopback = int(at_home.origin.rpartition(":")[2])
    view = await at_home.running.phone.open(None, "")
    port, plain = (int(url.rstrip("/").rpartition(":")[2]) for url in (view.origin, view.steps))
    file = tmp_path / "authority.pem"
    file.write_bytes(authority_of(at_home.config.data_dir))
    host, plain_host = f"{machine.near}:{port}", f"{machine.near}:{plain}"
    secure: dict[str, Any] = {"host": machine.near, "port": port, "authority": str(file)}
    clear: dict[str, Any] = {"host": machine.near, "port": plain}
    wanted = {
        "the cockpit": ({**secure, "head": get("/healthz", host)}, 200),
        "no session": ({**secure, "head": get("/", host)}, 401),
        "a foreign host": ({**secure, "head": get("/pair", "evil.example")}, 421),
        "loopback's name": ({**secure, "head": get("/pair", f"127.0.0.1:{loopback}")}, 421),
        "a foreign origin": (
            {**secure, "head": get("/pair", host, "Origin: https://evil.example")},
            403,
        ),
        "the steps": ({**clear, "head": get("/", plain_host)}, 200),
        "the certificate": ({**clear, "head": get("/silas-authority.crt", plain_host)}, 200),
        "the fingerprint": ({**clear, "head": get("/fingerprint", plain_host)}, 200),
        "pairing in the clear": ({**clear, "head": get("/pair", plain_host)}, 404),
        "health in the clear": ({**clear, "head": get("/healthz", plain_host)}, 404),
        "a foreign host in the clear": ({**clear, "head": get("/", "evil.example")}, 421),
        "plain HTTP where TLS is": ({**secure, "authority": "", "head": get("/", host)}, 0),
        "the cockpit's own port": ({**clear, "port": loopback}, 0),
    }
    for other in listening() - {port, plain}:
        wanted[f"port {other}"] = ({**clear, "port": other, "head": get("/", plain_host)}, 0)
    for name, other in (("the other address", machine.far), ("loopback", "127.0.0.1")):
        for number in (port, plain):
            request = {**clear, "host": other, "port": number, "head": get("/", plain_host)}
            wanted[f"{name}, port {number}"] = (request, 0)
    answers = await machine.answers(*(request for request, _ in wanted.values()))
    got = dict(zip(wanted, map(status, answers), strict=True))
    assert got == {name: code for name, (_, code) in wanted.items()}


async def test_the_address_does_not_answer_what_comes_in_by_another_interface(
    at_home: Cockpit, machine: Machine
) -> None:
    view = await at_home.running.phone.open(None, "")
    plain = int(view.steps.rstrip("/").rpartition(":")[2])

    async def says_so(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        writer.close()

    control = await asyncio.start_server(says_so, machine.near, 0)
    async with control:
        number = control.sockets[0].getsockname()[1]
        head = get("/", f"{machine.near}:{plain}")
        by_the_other: dict[str, Any] = {
            "host": machine.near,
            "device": machine.far_end,
            "head": head,
        }
        without, shut, usual = await machine.answers(
            {**by_the_other, "port": number},
            {**by_the_other, "port": plain},
            {**by_the_other, "port": plain, "device": ""},
        )
    assert (status(without), shut, status(usual)) == (200, "ConnectionRefusedError", 200)


def listening() -> set[int]:
    """Every TCP port that this process listens at."""
    held = set[str]()
    for entry in os.scandir("/proc/self/fd"):
        try:
            held.add(os.readlink(entry.path))
        except OSError:  # of the listing itself
            continue
    found = set[int]()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in held:
                found.add(int(fields[1].rpartition(":")[2], 16))
    return found
