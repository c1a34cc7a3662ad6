"""`web_fetch`: the text of one public web page (decision B1, spec 5.12)."""

import asyncio
import json
from collections.abc import Mapping
from typing import Annotated, Any, Final, NamedTuple
from urllib.parse import urljoin

from pydantic import AfterValidator, Field

from silas.context import scrub
from silas.tools.builtin.arguments import ToolArguments
from silas.tools.builtin.base import BuiltInTool
from silas.tools.models import CallFacts, ToolCallContext, ToolResult
from silas.tools.web.client import Address, HttpRequestNotSent, HttpResponse, WebClient, address
from silas.tools.web.html_text import text_of
from silas.types import OriginKind, TaintLevel

MAX_BYTES: Final = 1 << 20
"""Of a page; what is longer is cut."""

MAX_SHOWN: Final = 40_000
"""Characters of the text that one call shows."""

MAX_REDIRECTS: Final = 5
SECONDS: Final = 20.0
"""For one answer; each redirect has as many again."""

_HEADERS = {"User-Agent": "Silas", "Accept": "text/html, text/*;q=0.9, application/json;q=0.8"}
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_OK = range(200, 300)
_CHARSETS = frozenset(
    {
        *("ascii", "us-ascii", "utf-8", "utf8", "utf-16", "utf-16le", "utf-16be", "gbk", "gb2312"),
        *("gb18030", "big5", "shift_jis", "euc-jp", "iso-2022-jp", "euc-kr", "koi8-r", "koi8-u"),
        *(f"iso-8859-{n}" for n in range(1, 17) if n != 12),
        *(f"windows-{n}" for n in range(1250, 1259)),
    }
)
"""Encodings that pages are written in; some others that Python knows do more than decode."""


def _fetchable(text: str) -> str:
    address(text)
    return text


class FetchArguments(ToolArguments):
    """An address, and from which character on its text is shown."""

    url: Annotated[str, AfterValidator(_fetchable)]
    start: Annotated[int, Field(ge=0, le=MAX_BYTES)] | None = None


class _Fetched(NamedTuple):
    """The last answer, and whose it is."""

    at: Address
    answer: HttpResponse


class WebFetchTool(BuiltInTool):
    """Gets one page; changes nothing, but its address goes out."""

    name = "web_fetch"
    words = (
        "Get the text of one public web page by its http or https address. A long text is "
        "cut; `start` goes on at a character. No other method, no login, no file."
    )
    action = "get"
    arguments = FetchArguments
    roles = ("executor",)  # an address of a model's making can carry something out
    scopes = ()
    approved = True  # a plan without grants is for work in its sandbox; a page is asked for
    repeatable = True
    previewed = "Would get a web page."

    def __init__(self, web: WebClient) -> None:
        self._web = web

    def facts(self, action: str, request: dict[str, Any]) -> CallFacts:
        """Its address leaves this machine, for whoever it names."""
        return CallFacts(state_changing=False, egress=True, addressed=True)

    async def execute(
        self, action: str, request: dict[str, Any], context: ToolCallContext
    ) -> ToolResult:
        """Get the page and the pages it leads to, and take the text out.

        Raises:
            OSError, TimeoutError, h11.RemoteProtocolError: It broke off after it was asked for.
            DatabaseError: The connection could not be recorded.
        """
        try:
            fetched = await self._fetch_redirected(address(request["url"]), context.task_id)
        except HttpRequestNotSent as error:
            return _failed_result(str(error), request["url"])
        where = str(fetched.at)
        if fetched.answer.status not in _OK:
            told = f"{fetched.at.there.host} answered with status {fetched.answer.status}."
            return _failed_result(told, where)
        try:
            text = await asyncio.to_thread(lambda: scrub(_text(fetched)))
        except ValueError as error:
            return _failed_result(f"{where} {error}.", where)
        return _page_result(fetched, text, int(request.get("start") or 0))

    async def _fetch_redirected(self, to: Address, whose: str) -> _Fetched:
        """Follow redirects, each judged as the first address was."""
        for _ in range(MAX_REDIRECTS + 1):
            answer = await self._web.ask(
                to,
                whose=(whose, self.tool_name),
                seconds=SECONDS,
                most=MAX_BYTES,
                headers=_HEADERS,
            )
            if answer.status not in _REDIRECTS or "location" not in answer.headers:
                return _Fetched(to, answer)
            to = _next(to, answer.headers["location"])
        raise HttpRequestNotSent(f"{to.there.host} leads on more than {MAX_REDIRECTS} times.")


def _next(before: Address, location: str) -> Address:
    try:
        to = address(urljoin(str(before), location))
    except ValueError as error:
        raise HttpRequestNotSent(f"{before.there.host} leads to an address that {error}") from None
    if (before.scheme, to.scheme) == ("https", "http"):
        raise HttpRequestNotSent(
            f"{before.there.host} leads from https to http, which is not followed."
        )
    return to


def _failed_result(why: str, where: str) -> ToolResult:
    return ToolResult(
        ok=False, error=why, taint=TaintLevel.external, origin=OriginKind.web, source=where
    )


def _text(fetched: _Fetched) -> str:
    """The text of an answer. `ValueError` says why there is none."""
    kind, charset = _content_type(fetched.answer.headers)
    if fetched.answer.headers.get("content-encoding", "identity").lower() != "identity":
        raise ValueError("came compressed, which was not asked for")
    if kind in ("text/html", "application/xhtml+xml"):
        page = text_of(fetched.answer.body.decode(charset, "replace"), str(fetched.at))
        return f"# {page.title}\n\n{page.text}" if page.title else page.text
    if kind.startswith("text/") or kind in ("application/json", "application/xml"):
        return fetched.answer.body.decode(charset, "replace")
    if kind.endswith(("+json", "+xml")):
        return fetched.answer.body.decode(charset, "replace")
    raise ValueError(f"is {json.dumps(kind[:80])}, not text")


def _content_type(headers: Mapping[str, str]) -> tuple[str, str]:
    """Media type and encoding; UTF-8 where none that is known is told."""
    kind, *parameters = headers.get("content-type", "").split(";")
    charset = "utf-8"
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        told = value.strip().strip("\"'").lower()
        if name.strip().lower() == "charset" and told in _CHARSETS:
            charset = told
    return kind.strip().lower(), charset


def _page_result(fetched: _Fetched, text: str, start: int) -> ToolResult:
    piece = text[start : start + MAX_SHOWN]
    end = start + len(piece)
    more = f"; go on with start {end}" if end < len(text) else ""
    if not more and fetched.answer.cut:
        more = f"; the page is longer than {MAX_BYTES} bytes and was cut"
    where = str(fetched.at)
    return ToolResult(
        ok=True,
        return_value=f"{where}, characters {start} to {end} of {len(text)}{more}:\n{piece}",
        metadata={"status": fetched.answer.status, "bytes": len(fetched.answer.body)},
        taint=TaintLevel.external,
        origin=OriginKind.web,
        source=where,
    )
