"""The cockpit for a phone, wired and served as `silas start --phone` does it, here on loopback."""

import asyncio
import base64
import json
import os
import re
import socket
import ssl
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus
from websockets.typing import Origin

from silas.channels.web.pairing import ENROL_DOMAIN
from silas.channels.web.wire import Proof, command_bytes
from silas.clock import SystemClock
from silas.errors import ConfigError
from silas.keys import Ed25519Signer
from silas.keys.authority import IssuedBundle
from silas.language import speak
from silas.services.phone.identity import bundle_path, own_identity
from silas.testing.approval import a_signer
from silas.types import new_nonce
from tests.support.phone import LOOPBACK, PhoneAnswer, asked, trusting
from tests.support.waits import SECONDS
from tests.web.support.cockpit import Cockpit, Home, a_cockpit

OTHERS = ("/pair", "/health", "/healthz", "/readyz", "/static/app.js", "/ws", "/docs", "/devices")


@pytest.fixture
async def cockpit(tmp_path: Path) -> AsyncIterator[Cockpit]:
    more: dict[str, Any] = {**LOOPBACK, "SILAS_SCHEDULER__TIMEZONE": "Asia/Kathmandu"}
    async with a_cockpit(Home(tmp_path), **more) as running:
        yield running


class Paired:
    """A browser that was let in at some origin, with its key."""

    def __init__(self, origin: str, tls: ssl.SSLContext | None, signer: Ed25519Signer) -> None:
        self.origin, self._tls, self._signer = origin, tls, signer
        self.cookie = self.token = ""
        self.set_cookie = ""

    async def pair(self, link: str) -> "Paired":
        token = link.partition("#")[2]
        answer = await asked(
            f"{self.origin}/pair",
            self._tls,
            "POST",
            {
                "token": token,
                "name": "phone",
                "public_key": base64.b64encode(bytes.fromhex(self._signer.public_key)).decode(),
                "signature": base64.b64encode(
                    self._signer.sign(ENROL_DOMAIN + token.encode())
                ).decode(),
            },
        )
        assert answer.status == 200, answer.body
        [self.set_cookie] = answer.headers["set-cookie"]
        self.cookie, self.token = self.set_cookie.partition(";")[0], answer.json["page_token"]
        return self

    async def ask(self, method: str, path: str, body: Any = None) -> PhoneAnswer:
        own = {"Cookie": self.cookie, "X_Silas_Page": self.token}
        return await asked(f"{self.origin}{path}", self._tls, method, body, **own)

    async def proves(self, path: str, command: str, subject: str, **more: Any) -> PhoneAnswer:
        bare = Proof(timestamp=datetime.now(UTC), nonce=new_nonce(), signature=b"")
        signature = self._signer.sign(command_bytes(command, subject, bare))
        proof = {
            "timestamp": bare.timestamp.isoformat(),
            "nonce": bare.nonce,
            "signature": base64.b64encode(signature).decode(),
        }
        return await self.ask("POST", path, {**more, "proof": proof})


async def at_the_computer(cockpit: Cockpit) -> Paired:
    return await Paired(cockpit.origin, None, a_signer("desktop")).pair(await cockpit.link())


async def test_a_phone_pairs_over_https_and_its_cookie_never_travels_in_the_clear(
    cockpit: Cockpit,
) -> None:
    phone = cockpit.running.phone
    view = await phone.open(None, "")
    assert (view.way, view.origin.partition(":")[0]) == ("authority", "https")
    tls = trusting(cockpit)
    paired = await Paired(view.origin, tls, a_signer("phone")).pair((await phone.link()).link)
    assert "; Secure" in paired.set_cookie
    assert "HttpOnly; SameSite=Strict" in paired.set_cookie
    assert (await paired.ask("GET", "/devices")).status == 200
    assert "strict-transport-security" not in (await paired.ask("GET", "/")).headers
    async with connect(
        f"{view.origin.replace('https', 'wss')}/ws",
        ssl=tls,
        origin=Origin(view.origin),
        additional_headers={"Cookie": paired.cookie},
        proxy=None,
    ) as live:
        await live.send(json.dumps({"type": "auth", "token": paired.token, "after": 0}))
        assert json.loads(await live.recv())["type"]


async def test_the_plain_port_has_the_certificate_its_fingerprint_the_steps_and_nothing_else(
    cockpit: Cockpit,
) -> None:
    service = cockpit.running.phone
    view = await service.open("authority", "")
    link = await service.link()
    base = view.steps.rstrip("/")
    page = await asked(view.steps, None)
    assert page.status == 200
    for words in (view.fingerprint, "clock", "Android", "iPhone", view.origin):
        assert words in page.body.decode()
    assert link.link.partition("#")[2] not in page.body.decode()
    assert b"<script" not in page.body
    assert view.until is not None
    zone = cockpit.config.scheduler.zone
    ends = f"to {view.until.astimezone(zone):%Y-%m-%d %H:%M} (Asia/Kathmandu)."
    assert ends in page.body.decode()
    file = await asked(f"{base}/silas-authority.crt", None)
    assert file.headers["content-type"] == ["application/x-x509-ca-cert"]
    assert (
        ssl.DER_cert_to_PEM_cert(file.body).encode()
        in bundle_path(cockpit.config.data_dir).read_bytes()
    )
    assert (await asked(f"{base}/fingerprint", None)).body.decode() == f"{view.fingerprint}\n"
    paired = await Paired(view.origin, trusting(cockpit), a_signer("phone")).pair(link.link)
    for path in (*OTHERS, "/index.html", "//", "/fingerprint/", "/?a=b", "/%2e%2e/etc/passwd"):
        answer = await asked(f"{base}{path}", None, Cookie=paired.cookie)
        assert (path, answer.status) == (path, 404)
        assert answer.body == b"There is nothing here.\n"
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        assert (await asked(f"{base}/pair", None, method, {})).status == 405
    for host in ("evil.example", "127.0.0.2", "localhost"):
        assert (await asked(view.steps, None, Host=host)).status == 421
    with pytest.raises(InvalidStatus):
        async with connect(f"{base.replace('http', 'ws')}/ws", proxy=None):
            pass


async def test_the_steps_and_the_closed_door_are_told_in_the_owners_language(
    tmp_path: Path,
) -> None:
    english = re.compile(r"\b(the|and|your|open|with|this|that|is|trust)\b", re.IGNORECASE)
    more: dict[str, Any] = {**LOOPBACK, "SILAS_LANGUAGE": "de"}
    try:
        async with a_cockpit(Home(tmp_path), **more) as cockpit:
            view = await cockpit.running.phone.open("authority", "")
            for url in (view.steps, f"{cockpit.origin}/"):
                page = (await asked(url, None)).body.decode()
                assert '<html lang="de">' in page
                shown = re.sub(
                    r"<style>.*?</style>|<code>.*?</code>|<[^>]*>", " ", page, flags=re.S
                )
                assert english.findall(shown) == []
                assert "{" not in shown
    finally:
        speak("en")


async def test_the_phones_address_answers_under_its_own_name_to_its_own_page_alone(
    cockpit: Cockpit,
) -> None:
    view = await cockpit.running.phone.open("authority", "")
    tls, port = trusting(cockpit), view.origin.rpartition(":")[2]
    loopback = cockpit.origin.removeprefix("http://")
    for host in ("evil.example", loopback, "127.0.0.1", f"localhost:{port}"):
        assert (await asked(f"{view.origin}/pair", tls, Host=host)).status == 421
    for origin in ("https://evil.example", cockpit.origin, "null", f"http://127.0.0.1:{port}"):
        answer = await asked(f"{view.origin}/pair", tls, "POST", {}, Origin=origin)
        assert (origin, answer.status) == (origin, 403)
    for path in ("/", "/devices", "/openapi.json"):
        assert (await asked(f"{view.origin}{path}", tls)).status == 401
    phone = view.origin.removeprefix("https://")
    assert (await asked(f"{cockpit.origin}/pair", None, Host=phone)).status == 421
    refused = await cockpit.record()
    assert any("a host that is not ours" in entry for entry in refused)


async def test_the_phones_port_speaks_no_plain_http_and_no_old_tls(cockpit: Cockpit) -> None:
    view = await cockpit.running.phone.open("authority", "")
    reader, writer = await asyncio.open_connection("127.0.0.1", view.origin.rpartition(":")[2])
    writer.write(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
    assert not await asyncio.wait_for(reader.read(), SECONDS)
    writer.close()
    old = trusting(cockpit)
    old.maximum_version = ssl.TLSVersion.TLSv1_2
    with pytest.raises((ssl.SSLError, ConnectionError)):
        await asked(f"{view.origin}/healthz", old)
    strangers = ssl.create_default_context()
    with pytest.raises(ssl.SSLCertVerificationError):
        await asked(f"{view.origin}/healthz", strangers)
    assert (await asked(f"{view.origin}/healthz", trusting(cockpit))).status == 200


async def test_only_a_signature_opens_it_and_anybody_paired_closes_it(cockpit: Cockpit) -> None:
    desktop = await at_the_computer(cockpit)
    body = {"way": "authority", "address": "127.0.0.1"}
    assert (await desktop.ask("POST", "/devices/phone", body)).status == 400
    wrong = await desktop.proves("/devices/phone", "phone", "authority 10.0.0.1", **body)
    assert wrong.status == 403
    wrong = await desktop.proves("/devices/phone", "link", "authority 127.0.0.1", **body)
    assert wrong.status == 403
    assert (await desktop.ask("GET", "/devices/phone")).json["way"] is None
    assert (await desktop.proves("/devices/phone/link", "link", "phone")).status == 409
    opened = await desktop.proves("/devices/phone", "phone", "authority 127.0.0.1", **body)
    assert opened.status == 200, opened.body
    assert opened.json["steps_code"][0].count("0") == len(opened.json["steps_code"])
    assert "PRIVATE" not in opened.body.decode()
    link = await desktop.proves("/devices/phone/link", "link", "phone")
    assert link.json["link"].startswith(f"{opened.json['origin']}/pair#")
    assert (await desktop.ask("POST", "/devices/phone/link", {})).status == 400
    tailscale = {"way": "tailscale", "address": ""}
    other = await desktop.proves("/devices/phone", "phone", "tailscale", **tailscale)
    assert (other.status, other.json["code"]) == (400, "E_CFG_PHONE_OPEN")
    closed = await desktop.ask("POST", "/devices/phone/close")
    assert (closed.json["way"], closed.json["origin"]) == (None, "")
    await cockpit.running.phone.end()
    for address in (opened.json["origin"], opened.json["steps"].rstrip("/")):
        with pytest.raises(OSError):
            await asked(f"{address}/", trusting(cockpit) if "https" in address else None)
    events = [e for e in await cockpit.events() if e.startswith("phone.")]
    assert events == ["phone.opened", "phone.closed"]


async def test_the_phone_itself_may_close_what_it_comes_by_and_it_opens_again(
    cockpit: Cockpit,
) -> None:
    service = cockpit.running.phone
    view = await service.open("authority", "")
    paired = Paired(view.origin, trusting(cockpit), a_signer("phone"))
    await paired.pair((await service.link()).link)
    assert (await paired.ask("POST", "/devices/phone/close")).json["way"] is None
    again = await service.open("authority", "")
    assert again.fingerprint == view.fingerprint
    assert again.words == ""
    assert (await service.open("authority", "")).origin == again.origin


async def test_an_address_that_is_not_this_machines_is_refused_with_those_that_are(
    cockpit: Cockpit,
) -> None:
    with pytest.raises(ConfigError) as raised:
        await cockpit.running.phone.open("authority", "10.99.99.99")
    assert raised.value.code == "E_CFG_PHONE_ADDRESS"
    assert (await cockpit.running.phone.state()).way is None


async def test_a_port_that_is_taken_is_named_and_nothing_stays_open(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        more: dict[str, Any] = {**LOOPBACK, "SILAS_CHANNELS__WEB__PHONE__CERTIFICATE_PORT": port}
        async with a_cockpit(Home(tmp_path), **more) as cockpit:
            with pytest.raises(ConfigError, match=f"127.0.0.1:{port} for your phone") as raised:
                await cockpit.running.phone.open("authority", "")
            assert raised.value.code == "E_CFG_PORT"
            assert (await cockpit.running.phone.state()).way is None
            assert "phone.opened" not in await cockpit.events()


class Years(SystemClock):
    """A clock that is off by so much."""

    def __init__(self, off: timedelta) -> None:
        self.off = off

    def now(self) -> datetime:
        return super().now() + self.off


def names() -> tuple[str, ...]:
    from silas.home.interfaces import local_name

    return local_name()


async def test_an_expired_certificate_is_made_anew_with_one_sentence(tmp_path: Path) -> None:
    home = Home(tmp_path)
    old = datetime.now(UTC) - timedelta(days=731)
    config = home.config(**LOOPBACK)
    config.data_dir.mkdir(parents=True)
    before = own_identity(config.data_dir, names(), ("127.0.0.1",), old).identity
    async with a_cockpit(home, **LOOPBACK) as cockpit:
        view = await cockpit.running.phone.open("authority", "")
        assert view.words == (
            f"The certificate expired on {before.ends:%Y-%m-%d}, so Silas made a new one: trust "
            "the new authority on each phone, and remove the old one there."
        )
        assert view.fingerprint != before.fingerprint
        assert (await asked(f"{view.origin}/healthz", trusting(cockpit))).status == 200


async def test_a_certificate_from_the_future_means_that_this_machines_clock_is_wrong(
    tmp_path: Path,
) -> None:
    later = datetime.now(UTC) + timedelta(days=9)
    own_identity(tmp_path, ("box.local",), ("127.0.0.1",), later)
    with pytest.raises(ConfigError, match="set its clock") as raised:
        own_identity(tmp_path, ("box.local",), ("127.0.0.1",), datetime.now(UTC))
    assert raised.value.code == "E_CFG_TLS_CLOCK"


def test_another_address_takes_a_new_authority_and_says_so(tmp_path: Path) -> None:
    now = datetime.now(UTC)
    first = own_identity(tmp_path, ("box.local",), ("10.0.0.2",), now)
    same = own_identity(tmp_path, ("box.local",), ("10.0.0.2",), now)
    assert (same.made, same.identity) == ("", first.identity)
    moved = own_identity(tmp_path, ("box.local",), ("10.0.0.3",), now)
    assert "another name or address (box.local, 10.0.0.2)" in moved.made
    assert moved.identity.fingerprint != first.identity.fingerprint
    path = bundle_path(tmp_path)
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    path.write_bytes(b"scratched")
    assert "could not be read" in own_identity(tmp_path, (), ("10.0.0.3",), now).made
    path.chmod(0o644)
    with pytest.raises(ConfigError, match="Others may read"):
        own_identity(tmp_path, (), ("10.0.0.3",), now)


async def test_a_certificate_of_the_owners_is_served_under_its_names(tmp_path: Path) -> None:
    now = datetime.now(UTC)
    made = IssuedBundle.make(("silas.example",), ("127.0.0.1",), now)
    certificate, key = tmp_path / "mine.pem", tmp_path / "mine.key"
    cut = made.pem.index(b"-----BEGIN CERT")
    key.write_bytes(made.pem[:cut])
    certificate.write_bytes(made.pem[cut:])
    more: dict[str, Any] = {
        **LOOPBACK,
        "SILAS_CHANNELS__WEB__TLS": f"{{certificate: {certificate}, key: {key}}}",
    }
    folder = tmp_path / "home"
    folder.mkdir()
    async with a_cockpit(Home(folder), **more) as cockpit:
        view = await cockpit.running.phone.open(None, "")
        assert (view.way, view.steps, view.fingerprint) == ("certificate", "", "")
        port = view.origin.rpartition(":")[2]
        assert view.origin == f"https://silas.example:{port}"
        tls = ssl.create_default_context(cadata=made.pem[cut:].decode())
        url = f"https://127.0.0.1:{port}/healthz"
        assert (await asked(url, tls, Host=f"silas.example:{port}")).status == 200
        assert (await asked(url, tls)).status == 421
        await cockpit.running.phone.close()
        await cockpit.running.phone.end()
        key.write_bytes(IssuedBundle.make((), ("127.0.0.1",), now).pem[:cut])
        with pytest.raises(ConfigError, match="is not the key of") as raised:
            await cockpit.running.phone.open(None, "")
        assert raised.value.code == "E_CFG_TLS"
        old = IssuedBundle.make(("silas.example",), (), now - timedelta(days=800))
        cut = old.pem.index(b"-----BEGIN CERT")
        key.write_bytes(old.pem[:cut])
        certificate.write_bytes(old.pem[cut:])
        with pytest.raises(ConfigError, match=r"expired on \d{4}-\d\d-\d\d; renew it"):
            await cockpit.running.phone.open(None, "")
        key.unlink()
        with pytest.raises(ConfigError, match=r"mine\.key cannot be read"):
            await cockpit.running.phone.open(None, "")


_TAILSCALE = """#!/usr/bin/env python3
import json, pathlib, sys
here = pathlib.Path(__file__).parent
with open(here / "asked", "a") as log:
    log.write(" ".join(sys.argv[1:]) + "\\n")
state = here / "serve.json"
match sys.argv[1:]:
    case ["status", "--json"]:
        print((here / "status.json").read_text())
    case ["serve", "status", "--json"]:
        print(state.read_text() if state.exists() else "{}")
    case ["serve", "--bg", https, target]:
        port = https.removeprefix("--https=")
        web = {"Handlers": {"/": {"Proxy": target}}}
        state.write_text(json.dumps({"Web": {f"box.tail1.ts.net:{port}": web}}))
    case ["serve", https, "off"]:
        state.unlink()
    case _:
        sys.exit("what?")
"""


@pytest.fixture
def tailscale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program of that name on the `PATH`; the folder has what it was asked."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "tailscale"
    program.write_text(_TAILSCALE)
    program.chmod(0o755)
    status = {"BackendState": "Running", "Self": {"DNSName": "box.tail1.ts.net."}}
    (folder / "status.json").write_text(json.dumps(status))
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return folder


@asynccontextmanager
async def on_a_tailnet(tmp_path: Path) -> AsyncGenerator[Cockpit]:
    home = tmp_path / "home"
    home.mkdir()
    more: dict[str, Any] = {**LOOPBACK, "SILAS_CHANNELS__WEB__PHONE__PORT": 8421}
    async with a_cockpit(Home(home), **more) as cockpit:
        yield cockpit


async def test_tailscale_serves_it_to_its_own_network_and_never_by_its_funnel(
    tmp_path: Path, tailscale: Path
) -> None:
    async with on_a_tailnet(tmp_path) as cockpit:
        view = await cockpit.running.phone.open("tailscale", "")
        assert (view.way, view.origin) == ("tailscale", "https://box.tail1.ts.net:8421")
        assert (view.steps, view.until) == ("", None)
        [served] = json.loads((tailscale / "serve.json").read_text())["Web"].values()
        target = served["Handlers"]["/"]["Proxy"]
        named = {"Host": "box.tail1.ts.net:8421"}
        assert (await asked(f"{target}/healthz", None, **named)).status == 200
        assert (await asked(f"{target}/healthz", None)).status == 421
        link = (await cockpit.running.phone.link()).link
        assert link.startswith("https://box.tail1.ts.net:8421/pair#")
    assert not (tailscale / "serve.json").exists()
    told = (tailscale / "asked").read_text()
    assert "serve --https=8421 off" in told
    assert "funnel" not in told


async def test_tailscale_that_is_off_taken_or_public_is_refused_in_one_sentence(
    tmp_path: Path, tailscale: Path
) -> None:
    async with on_a_tailnet(tmp_path) as cockpit:
        phone, serve = cockpit.running.phone, tailscale / "serve.json"
        serve.write_text(json.dumps({"AllowFunnel": {"box.tail1.ts.net:8421": True}}))
        with pytest.raises(ConfigError, match="open to the internet"):
            await phone.open("tailscale", "")
        serve.write_text(json.dumps({"TCP": {"8421": {"TCPForward": "127.0.0.1:1"}}}))
        with pytest.raises(ConfigError, match="something else at port 8421"):
            await phone.open("tailscale", "")
        (tailscale / "status.json").write_text('{"BackendState": "NeedsLogin"}')
        with pytest.raises(ConfigError, match="run `tailscale up`") as raised:
            await phone.open("tailscale", "")
        assert raised.value.code == "E_CFG_TAILSCALE"
        (tailscale / "status.json").write_text("no json")
        with pytest.raises(ConfigError, match="not JSON"):
            await phone.open("tailscale", "")
        assert (await phone.state()).way is None
        assert "--bg" not in (tailscale / "asked").read_text()


async def test_without_tailscale_its_way_says_so(
    cockpit: Cockpit,
) -> None:
    with pytest.raises(ConfigError, match="Tailscale is not installed"):
        await cockpit.running.phone.open("tailscale", "")
    by_value = {one.value: one for one in (await cockpit.running.phone.state()).ways}
    assert by_value["tailscale"].why_not
    assert not by_value["authority"].why_not
