"""The door, attacked: nothing reaches the cockpit that was not let in (decision B6)."""

import re
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from silas.channels.web.asgi import Message, Scope
from silas.channels.web.limits import PAIRINGS_PER_MINUTE, WebLimits
from tests.support.chance import examples
from tests.support.door import BASE, COOKIE, SAME_PAGE, Browser, House, a_house

PUBLIC = re.compile(
    r"/pair|/health|/healthz|/readyz|/manifest\.json|/favicon\.ico|/offline\.html|/static/[\w-][\w.-]*(/[\w-][\w.-]*)?"
)
PAGES = {"/", "/sw.js", "/docs"}
DATA = ("/work", "/activity", "/memory", "/settings", "/transcript", "/openapi.json", "/stop")

Headers = list[tuple[bytes, bytes]]


def a_scope(method: str, path: str, headers: Headers, **changes: Any) -> Scope:
    return {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode("utf-8", "surrogatepass"),
        "query_string": b"",
        "headers": headers,
        "client": ("127.0.0.1", 50000),
        **changes,
    }


def from_the_page(browser: Browser | None, *, page: bool = True) -> Headers:
    found = [(b"host", b"127.0.0.1:8420"), (b"origin", BASE.encode())]
    if browser is not None:
        found.append((b"cookie", f"{COOKIE}={browser.paired.cookie}".encode()))
        if page:
            found.append((b"x-silas-page", browser.paired.page_token.encode()))
    return found


async def status_of(house: House, scope: Scope, body: bytes = b"") -> int:
    """What the guard answers to a request as a server hands it over."""
    answers: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Message) -> None:
        answers.append(message)

    await house.guard(scope, receive, send)
    return int(answers[0]["status"])


@pytest.mark.proves("B6-LOOPBACK-NOT-TRUSTED")
async def test_a_paired_page_reaches_its_data_and_nobody_else_does(house: House) -> None:
    browser = await house.browser("my laptop")
    for path in DATA:
        async with house.client() as stranger:
            refused = await stranger.get(path)
            assert (refused.status_code, refused.json()["code"]) == (401, "E_CHANNEL_SESSION")
        async with house.client(browser) as page:
            assert (await page.get(path, headers=SAME_PAGE)).text == "my laptop: 0"
            done = await page.post(path, headers=SAME_PAGE, json={"a": 1})
            assert done.text == "my laptop: 7"
    assert house.seen == [path for path in DATA for _ in range(2)]


async def test_the_cookie_alone_opens_pages_and_nothing_that_has_data(house: House) -> None:
    """Another user's server on another port of this host is sent our cookie by the browser."""
    browser = await house.browser()
    async with house.client(browser, page=False) as thief:
        for path in DATA:
            for token in ({}, {"X-Silas-Page": ""}, {"X-Silas-Page": browser.paired.cookie}):
                refused = await thief.get(path, headers={**SAME_PAGE, **token})
                assert (refused.status_code, refused.json()["code"]) == (401, "E_CHANNEL_PAGE")
                assert (await thief.post(path, headers={**SAME_PAGE, **token})).status_code == 401
        assert house.seen == []
        for path in PAGES:
            assert (await thief.get(path)).status_code == 200
    assert "a cookie without its page token" in house.reasons("web.refused")


async def test_without_a_session_the_page_says_to_open_the_link(house: House) -> None:
    async with house.client() as stranger:
        closed = await stranger.get("/")
    assert closed.status_code == 401
    assert closed.headers["content-type"] == "text/html; charset=utf-8"
    assert "silas devices link" in closed.text
    assert not re.search(r"<script|<style|style=|\son\w+=|//", closed.text)
    assert house.seen == []


async def test_who_follows_a_link_from_elsewhere_is_known_at_the_second_look(house: House) -> None:
    """The browser does not send our cookie along with a link of another site."""
    visit = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    async with house.client() as browser:
        for site, again in (("cross-site", 1), ("same-site", 1), ("none", 0), ("same-origin", 0)):
            closed = await browser.get("/", headers={**visit, "Sec-Fetch-Site": site})
            assert closed.text.count('<meta http-equiv="refresh" content="0">') == again
    assert house.seen == []


async def test_the_way_to_pair_needs_no_session_and_gives_none_of_it_away(house: House) -> None:
    browser = await house.browser()
    async with house.client(browser) as page:
        for path in ("/pair", "/health", "/static/pair.js", "/static/icons/a-1.png"):
            assert (await page.get(path)).text == "nobody: 0"
        sent = await page.post("/pair", headers=SAME_PAGE, json={})
        assert sent.text == "nobody: 2"


ELSEWHERE = {
    "another site": {"Origin": "https://evil.example"},
    "another site, as sent by a sandboxed frame": {"Origin": "null"},
    "another port of this host": {"Origin": "http://127.0.0.1:9999"},
    "the same port under another of our names": {"Origin": "http://localhost:8420"},
    "the same name over https": {"Origin": "https://127.0.0.1:8420"},
    "a name that begins like ours": {"Origin": "http://127.0.0.1:8420.evil.example"},
    "no origin at all": {},
    "an empty one": {"Origin": ""},
    "ours, said by a page elsewhere": {"Origin": BASE, "Sec-Fetch-Site": "cross-site"},
    "ours, said by another port": {"Origin": BASE, "Sec-Fetch-Site": "same-site"},
    "ours, typed by nobody": {"Origin": BASE, "Sec-Fetch-Site": "none"},
}


@pytest.mark.parametrize("headers", ELSEWHERE.values(), ids=ELSEWHERE.keys())
async def test_a_page_elsewhere_in_the_same_browser_changes_nothing(
    house: House, headers: dict[str, str]
) -> None:
    browser = await house.browser()
    async with house.client(browser) as hostile:
        for path in ("/stop", "/pair", "/work/task-1/undo"):
            refused = await hostile.post(path, headers=headers, json={})
            assert (refused.status_code, refused.json()["code"]) == (403, "E_CHANNEL_ORIGIN")
    assert house.seen == []
    assert house.reasons("web.refused") == ["another page's origin"]


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
async def test_a_form_of_a_hostile_page_is_not_read(house: House, kind: str) -> None:
    """A form can send text that reads as JSON, with cookies and without asking first."""
    browser = await house.browser()
    async with house.client(browser) as page:
        for origin, code in (("https://evil.example", 403), (BASE, 415)):
            headers = {"Origin": origin, "Content-Type": kind}
            sent = await page.post("/settings", headers=headers, content=b'{"a":"="}')
            assert sent.status_code == code
    assert house.seen == []


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example", "evil.example:8420", "127.0.0.1", "127.0.0.1:80", "localhost.:8420"),
        *("127.0.0.1:8420@evil.example", "127.0.0.1:8420 ", "127.0.0.2:8420", "0.0.0.0:8420"),
        *("", "*"),
    ],
)
async def test_a_name_that_was_made_to_point_here_is_refused(house: House, host: str) -> None:
    """DNS rebinding: for the browser the hostile page and we are one origin."""
    browser = await house.browser()
    async with house.client(browser) as hostile:
        for path in ("/", "/pair", "/health", "/work", "/static/app.js"):
            for origin in ({"Origin": f"http://{host}"}, {}):
                headers = {"Host": host, "Sec-Fetch-Site": "same-origin", **origin}
                refused = await hostile.get(path, headers=headers)
                assert (refused.status_code, refused.json()["code"]) == (421, "E_CHANNEL_HOST")
    assert house.seen == []


@pytest.mark.parametrize(
    "host", ["127.0.0.1:8420", "localhost:8420", "LOCALHOST:8420", "[::1]:8420"]
)
async def test_this_machines_own_names_are_ours(house: House, host: str) -> None:
    async with house.client() as client:
        assert (await client.get("/health", headers={"Host": host})).status_code == 200


@pytest.mark.proves("S8.1-LOOPBACK")
async def test_from_elsewhere_only_the_configured_names_are_ours(tmp_path: Path) -> None:
    web = {"host": "0.0.0.0", "auth_token": "x", "allowed_hosts": ["silas.example"]}
    with a_house(tmp_path, **web) as house:
        assert house.door.base == "https://silas.example"
        browser = await house.browser(auth_token="x")
        async with house.client(browser) as page:
            for host, origin, code in (
                ("silas.example", "https://silas.example", 200),
                ("silas.example", "http://silas.example", 403),
                ("silas.example:8420", "https://silas.example:8420", 421),
                ("0.0.0.0:8420", "http://0.0.0.0:8420", 421),
                ("evil.example", "https://silas.example", 421),
            ):
                sent = await page.post("/stop", headers={"Host": host, "Origin": origin})
                assert (host, origin, sent.status_code) == (host, origin, code)


LOOKING = {
    "an image in a page elsewhere": ("cross-site", "no-cors", "image", 403),
    "a script of another port": ("same-site", "no-cors", "script", 403),
    "a frame": ("cross-site", "navigate", "iframe", 403),
    "a link from elsewhere": ("cross-site", "navigate", "document", 200),
    "an address that was typed": ("none", "navigate", "document", 200),
    "our own page": ("same-origin", "no-cors", "script", 200),
}


@pytest.mark.parametrize("how", LOOKING.values(), ids=LOOKING.keys())
async def test_pages_elsewhere_cannot_even_look(
    house: House, how: tuple[str, str, str, int]
) -> None:
    site, mode, dest, code = how
    headers = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": dest}
    browser = await house.browser()
    async with house.client(browser) as page:
        for path in ("/static/app.js", "/health", "/"):
            assert (await page.get(path, headers=headers)).status_code == code
        data = await page.get("/work", headers=headers)
        assert data.status_code == (200 if site in ("none", "same-origin") else 403)


METHODS = ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "CONNECT", "X", ""]
PIECES = [
    *("/", "//", ".", "..", "work", "static", "app.js", "pair", "health", "ws", "%2f", "%2e"),
    *("\\", "\x00", "\n", " ", ";", "?", "stop", "docs", "sw.js", "manifest.json", "ſtatic"),
]
paths = st.lists(st.sampled_from(PIECES), max_size=6).map("".join)


@given(
    method=st.sampled_from(METHODS),
    path=st.one_of(paths, paths.map(lambda path: f"/{path}"), st.text(max_size=20)),
    paired=st.booleans(),
    socket=st.booleans(),
)
@example(method="GET", path="/static/../work", paired=True, socket=False)
@example(method="GET", path="/pair\n", paired=True, socket=False)
@example(method="get", path="/work", paired=True, socket=False)
@example(method="GET", path="/ws", paired=False, socket=True)
@settings(
    max_examples=examples(400),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
async def test_no_path_but_the_public_ones_is_reached_without_session_and_page_token(
    house: House, method: str, path: str, paired: bool, socket: bool
) -> None:
    browser = await house.known_browser()
    house.seen.clear()
    house.limits = WebLimits(1000, 1000, house.clock)
    scope = a_scope(method, path, from_the_page(browser if paired else None, page=False))
    if socket:
        await closed_socket(house, {**scope, "type": "websocket"})
        assert house.seen == (["/ws", "gone 4001"] if paired and path == "/ws" else [])
        return
    await status_of(house, scope)
    allowed = bool(PUBLIC.fullmatch(path)) or (paired and path in PAGES)
    assert house.seen == ([path] if allowed and house.seen else [])
    if house.seen:
        assert method.upper() in ("GET", "HEAD") or (method, path) == ("POST", "/pair")


async def closed_socket(house: House, scope: Scope) -> list[Message]:
    """A socket that says something other than the page token; what it was told."""
    said: list[Message] = [
        {"type": "websocket.connect"},
        {"type": "websocket.receive", "text": '{"type": "message"}'},
        {"type": "websocket.disconnect", "code": 1006},
    ]
    told: list[Message] = []

    async def receive() -> Message:
        return said.pop(0)

    async def send(message: Message) -> None:
        told.append(message)

    await house.guard(scope, receive, send)
    assert not [message for message in told if message["type"] == "websocket.send"]
    return told


@pytest.mark.parametrize(
    ("path", "raw"),
    [
        ("/static/../work", b"/static/../work"),
        ("/static/a/../../work", b"/static/a/%2e%2e/%2e%2e/work"),
        ("/static/a", b"/static%2fa"),
        ("/work", b"/%5cwork"),
        ("/work\x00", b"/work%00"),
        ("//evil.example/work", b"//evil.example/work"),
        ("/work/%2e", b"/work/%252e"),
        ("work", b"work"),
        ("http://127.0.0.1:8420/work", b"http://127.0.0.1:8420/work"),
    ],
)
async def test_a_path_that_can_be_read_in_two_ways_is_refused_whoever_asks(
    house: House, path: str, raw: bytes
) -> None:
    browser = await house.browser()
    scope = a_scope("GET", path, from_the_page(browser), raw_path=raw)
    assert await status_of(house, scope) == 400
    assert house.seen == []


async def test_a_server_that_mounts_us_elsewhere_opens_nothing(house: House) -> None:
    scope = a_scope("GET", "/health", from_the_page(None), root_path="/health")
    assert await status_of(house, scope) == 405
    assert house.seen == []


@pytest.mark.parametrize(
    "name", [b"host", b"origin", b"x-silas-page", b"content-length", b"sec-fetch-site"]
)
async def test_a_header_that_comes_twice_is_refused(house: House, name: bytes) -> None:
    browser = await house.browser()
    first = dict(from_the_page(browser))
    headers = [*first.items(), (name, first.get(name, b"0")), (name.title(), b"0")]
    assert await status_of(house, a_scope("GET", "/work", headers)) == 400
    assert house.seen == []


@pytest.mark.parametrize(
    "more",
    [
        [(b"x-long", b"x" * 20_000)],
        [(f"x-{n}".encode(), b"1") for n in range(80)],
        [(b"cookie", b"a=" + b"x" * 20_000)],
    ],
)
async def test_oversized_headers_are_refused(house: House, more: Headers) -> None:
    browser = await house.browser()
    scope = a_scope("GET", "/work", [*from_the_page(browser), *more])
    assert await status_of(house, scope) == 431
    long = a_scope("GET", "/work", from_the_page(browser), query_string=b"q" * 5000)
    assert await status_of(house, long) == 431
    assert house.seen == []


class Drip:
    """A body without a length, which counts what was taken of it."""

    def __init__(self, pieces: int, size: int = 1024) -> None:
        self.pieces, self.size, self.taken = pieces, size, 0

    async def __aiter__(self) -> AsyncGenerator[bytes]:
        for _ in range(self.pieces):
            self.taken += 1
            yield b"x" * self.size


@pytest.mark.parametrize(("path", "most"), [("/pair", 4), ("/settings", 256)])
async def test_a_body_that_is_too_large_is_not_read_on(house: House, path: str, most: int) -> None:
    browser = await house.browser()
    headers = {**SAME_PAGE, "Content-Type": "application/json"}
    async with house.client(browser) as page:
        said = await page.post(path, headers=headers, content=b"x" * (most * 1024 + 1))
        unsaid = Drip(pieces=10_000)
        chunked = await page.post(path, headers=headers, content=unsaid)
        for refused in (said, chunked):
            assert (refused.status_code, refused.json()["code"]) == (413, "E_CHANNEL_BODY")
        assert unsaid.taken <= most + 2
        assert house.seen == []
        fits = await page.post(path, headers=headers, content=Drip(pieces=most))
        assert fits.text.endswith(f": {most * 1024}")


@pytest.mark.parametrize("length", ["-1", "1e3", "0x10", "", "9" * 400, "²", "1, 1"])
async def test_a_length_that_is_no_number_is_refused(house: House, length: str) -> None:
    browser = await house.browser()
    headers = [*from_the_page(browser), (b"content-length", length.encode("latin-1"))]
    assert await status_of(house, a_scope("POST", "/stop", headers)) == 413
    assert house.seen == []


FILE = "/attachments/file-1/content"


async def test_a_file_is_handed_on_as_it_comes_and_is_guarded_as_the_rest(house: House) -> None:
    browser = await house.browser()
    kind = {"Content-Type": "application/octet-stream"}
    async with house.client(browser) as page:
        sent = await page.post(FILE, headers={**SAME_PAGE, **kind}, content=Drip(pieces=3))
        assert sent.text == "a phone: 1024"  # the first piece, before the others were taken
        taken = len(house.seen)
        large = {**SAME_PAGE, **kind, "Content-Length": "3000000000"}
        for headers, code in (
            (large, "E_CHANNEL_BODY"),
            ({**SAME_PAGE, "Content-Type": "application/json"}, "E_CHANNEL_TYPE"),
            ({**SAME_PAGE, **kind, "Content-Encoding": "gzip"}, "E_CHANNEL_TYPE"),
            ({**kind}, "E_CHANNEL_ORIGIN"),
            ({**SAME_PAGE, **kind, "Origin": "https://elsewhere.example"}, "E_CHANNEL_ORIGIN"),
            ({**SAME_PAGE, **kind, "X-Silas-Page": "another"}, "E_CHANNEL_PAGE"),
        ):
            unread = Drip(pieces=3)
            refused = await page.post(FILE, headers=headers, content=unread)
            assert (refused.json()["code"], unread.taken) == (code, 0)
    async with house.client() as stranger:
        refused = await stranger.post(FILE, headers={**SAME_PAGE, **kind}, content=b"x")
    assert refused.json()["code"] == "E_CHANNEL_SESSION"
    assert len(house.seen) == taken


async def test_looking_takes_no_body_and_packed_ones_are_not_unpacked(house: House) -> None:
    browser = await house.browser()
    look = a_scope("GET", "/work", from_the_page(browser))
    assert await status_of(house, look, b"x") == 413
    packed = [*from_the_page(browser), (b"content-encoding", b"gzip")]
    assert await status_of(house, a_scope("POST", "/stop", packed), b"x") == 415
    assert house.seen == []


async def test_a_body_that_breaks_off_or_never_ends_reaches_nobody(house: House) -> None:
    import asyncio

    browser = await house.browser()
    headers = [*from_the_page(browser), (b"content-type", b"application/json")]
    answers: list[Message] = []

    async def send(message: Message) -> None:
        answers.append(message)

    async def broken() -> Message:
        pieces.append(1)
        if len(pieces) == 1:
            return {"type": "http.request", "body": b"{}", "more_body": True}
        return {"type": "http.disconnect"}

    async def silent() -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    pieces: list[int] = []
    await house.guard(a_scope("POST", "/stop", headers), broken, send)
    assert answers.pop(0)["status"] == 400
    answers.clear()
    waiting = asyncio.ensure_future(house.guard(a_scope("POST", "/stop", headers), silent, send))
    while not waiting.done():
        await asyncio.sleep(0)
        house.clock.advance(1)
    await waiting
    assert answers[0]["status"] == 408
    assert house.seen == []


async def test_a_cookie_that_somebody_fixed_before_pairing_never_becomes_a_session(
    house: House,
) -> None:
    async with house.client() as victim:
        victim.cookies.set(COOKIE, "a" * 64)
        assert (await victim.get("/")).status_code == 401
    browser = await house.browser()
    assert browser.paired.cookie != "a" * 64
    async with house.client() as thief:
        thief.cookies.set(COOKIE, "a" * 64)
        assert (await thief.get("/")).status_code == 401
    assert house.seen == []


async def test_a_cookie_of_another_port_does_not_hide_ours(house: House) -> None:
    browser = await house.browser("my laptop")
    mine = browser.paired.cookie
    for cookies, code in (
        (f"{COOKIE}=evil; {COOKIE}={mine}", 200),
        (f"x=1;{COOKIE}={mine} ; {COOKIE}=evil", 200),
        (f'{COOKIE}="{mine}"', 401),
        (f"not{COOKIE}={mine}; {COOKIE}", 401),
        (f"{COOKIE}=evil; " * 8 + f"{COOKIE}={mine}", 401),
    ):
        async with house.client() as page:
            assert (await page.get("/", headers={"Cookie": cookies})).status_code == code, cookies


async def test_every_answer_is_strict_whatever_the_app_says(house: House) -> None:
    browser = await house.browser()
    async with house.client(browser) as page, house.client() as stranger:
        answers = [
            await page.get("/"),
            await page.get("/work"),
            await page.get("/static/app.js"),
            await page.post("/stop", headers=SAME_PAGE),
            await page.post("/stop", headers={"Origin": "https://evil.example"}),
            await stranger.get("/"),
            await stranger.get("/work"),
            await stranger.get("/work", headers={"Host": "evil.example"}),
        ]
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        directives = dict(part.strip().split(" ", 1) for part in policy.split(";"))
        assert directives["default-src"] == "'self'"
        assert directives["script-src"] == directives["style-src"] == "'self'"
        assert directives["img-src"] == "'self' blob:"  # what the page's own code has fetched
        assert directives["frame-ancestors"] == directives["base-uri"] == "'none'"
        assert directives["form-action"] == "'self'"
        others = policy.replace("img-src 'self' blob:", "")
        assert not re.search(r"unsafe|https:|http:|data:|blob:|\*|evil", others)
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cross-origin-opener-policy"] == "same-origin"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert "camera=()" in answer.headers["permissions-policy"]
        assert not {"server", "access-control-allow-origin"} & set(answer.headers)
        assert len(answer.headers.get_list("content-security-policy")) == 1
    stored = [answer.headers["cache-control"] for answer in answers]
    assert stored == ["no-cache", "no-store", "no-cache", *["no-store"] * 5]


async def test_guessing_links_is_limited_per_address_and_in_all(house: House) -> None:
    answers: list[httpx.Response] = []
    for address in ("10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"):
        async with house.client(address=address) as thief:
            for _ in range(PAIRINGS_PER_MINUTE + 2):
                answers.append(await thief.post("/pair", headers=SAME_PAGE, json={}))
    each = [200] * 10 + [429] * 2
    assert [answer.status_code for answer in answers] == each * 3 + [429] * 12
    assert answers[-1].headers["retry-after"] == "60"
    assert answers[-1].json()["code"] == "E_CHANNEL_LIMIT"
    assert "tries to pair from one address" in house.reasons("web.limited")
    house.clock.advance(60)
    async with house.client() as owner:
        assert (await owner.post("/pair", headers=SAME_PAGE, json={})).status_code == 200


async def test_commands_and_requests_are_limited_and_a_flood_leaves_few_entries(
    house: House,
) -> None:
    browser = await house.browser()
    async with house.client(browser) as page:
        codes = [(await page.post("/stop", headers=SAME_PAGE)).status_code for _ in range(70)]
        assert codes == [200] * 60 + [429] * 10
        floods = [(await page.get("/health")).status_code for _ in range(2400 - 70 + 5)]
        assert floods == [200] * (2400 - 70) + [429] * 5
        house.clock.advance(1)
        assert (await page.post("/stop", headers=SAME_PAGE)).status_code == 200
    assert house.reasons("web.limited") == [
        "messages of one browser",
        "requests of one browser",
    ]
    house.clock.advance(60)
    async with house.client() as stranger:
        await stranger.get("/work")
    entries = [data for event, data in house.audit.entries if event.startswith("web.")]
    assert (len(entries), sum(data["unsaid"] for data in entries)) == (3, 10 + 5 + 1 - 3)


async def test_requests_of_strangers_use_up_no_paired_browsers_bucket(house: House) -> None:
    browser = await house.browser()
    async with house.client() as stranger, house.client(browser) as page:
        floods = [(await stranger.get("/health")).status_code for _ in range(2400 + 5)]
        assert floods == [200] * 2400 + [429] * 5
        assert (await page.get("/work")).status_code == 200


async def test_a_revoked_device_is_refused_at_its_next_request(house: House) -> None:
    browser = await house.browser()
    async with house.client(browser) as page:
        assert (await page.get("/work")).status_code == 200
        await house.another_process().revoke(browser.paired.session.device_id)
        assert (await page.get("/work")).status_code == 401
        assert (await page.get("/")).status_code == 401
