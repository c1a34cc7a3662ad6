"""`web_search`: asks the search provider that the owner chose (spec 9.2, 9.3).

The provider's key is asked for when a search is made and kept by nothing here.
"""

import json
import re
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Annotated, Any, Final, NamedTuple, Protocol, cast
from urllib.parse import quote_plus, urlsplit

from pydantic import Field, StringConstraints

from silas.clock import Clock
from silas.context import scrub
from silas.errors import SilasError
from silas.sandbox import Endpoint
from silas.tools.builtin.arguments import ToolArguments
from silas.tools.builtin.base import BuiltInTool
from silas.tools.models import CallFacts, ToolCallContext, ToolResult
from silas.tools.refusals import RateLimited, ToolUnavailable
from silas.tools.web.client import Address, HttpRequestNotSent, HttpResponse, WebClient
from silas.types import OriginKind, TaintLevel

MAX_BYTES: Final = 1 << 20
"""Of a provider's answer."""

_MOST_RESULTS = 20  # what providers give at once
_TITLE, _SNIPPET, _LINK = 200, 500, 500  # characters of a result that are shown
_DEFAULT_WAIT = timedelta(seconds=60)  # where a provider does not say
_LONGEST_WAIT = timedelta(days=1)  # a provider that asks for more is asked again then
_OK, _KEY_REFUSED, _BUSY = 200, (401, 403), 429
_NUMBER = re.compile(r"[0-9]{1,9}")

ReadKey = Callable[[], str]
"""The provider's key, read in the moment of the call. Raises `SilasError` where there is none."""


class SearchLimits(Protocol):
    """The numbers of the `search:` section (spec 11)."""

    @property
    def timeout_seconds(self) -> float:
        """Elapsed time of one search."""
        ...

    @property
    def max_results(self) -> int:
        """Results of one search."""
        ...

    @property
    def max_query_chars(self) -> int:
        """Longest query."""
        ...

    @property
    def allowed_domains(self) -> tuple[str, ...]:
        """Only these and what is below them; empty means all."""
        ...


class SearchResult(NamedTuple):
    """One result."""

    title: str
    url: str
    snippet: str


class Ask(NamedTuple):
    """One request to a provider."""

    to: Address
    headers: Mapping[str, str]
    body: bytes | None


class Provider(NamedTuple):
    """How a search service is spoken to.

    Attributes:
        ask: (query, results, domains, key) to a request.
        results: The results in its parsed answer; `ValueError`, `KeyError` or `TypeError` where
            it is not of the form it should have.
    """

    ask: Callable[[str, int, Sequence[str], str], Ask]
    results: Callable[[Any], list[SearchResult]]


def _ask_tavily(query: str, count: int, domains: Sequence[str], key: str) -> Ask:
    body = {"query": query, "max_results": count, "include_domains": list(domains)}
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    return Ask(_at("api.tavily.com", "/search"), headers, json.dumps(body).encode())


def _ask_brave(query: str, count: int, domains: Sequence[str], key: str) -> Ask:
    only = " OR ".join(f"site:{domain}" for domain in domains)
    asked = quote_plus(f"{query} ({only})" if only else query)
    to = _at("api.search.brave.com", f"/res/v1/web/search?q={asked}&count={count}")
    return Ask(to, {"X-Subscription-Token": key}, None)


def _at(host: str, target: str) -> Address:
    return Address("https", Endpoint(host, 443), target)


def _of_tavily(answer: Any) -> list[SearchResult]:
    return [_parse_result(one, "content") for one in answer["results"]]


def _of_brave(answer: Any) -> list[SearchResult]:
    if "web" not in answer:  # nothing was found
        return []
    return [_parse_result(one, "description") for one in answer["web"]["results"]]


def _parse_result(one: Any, snippet: str) -> SearchResult:
    texts = [one["title"], one["url"], one.get(snippet) or ""]
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("a result is not text")
    return SearchResult(*cast(list[str], texts))


PROVIDERS: Final[Mapping[str, Provider]] = {
    "brave": Provider(_ask_brave, _of_brave),
    "tavily": Provider(_ask_tavily, _of_tavily),
}


class WebSearchArguments(ToolArguments):
    """What to look for, and how many results at most."""

    query: Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]
    max_results: Annotated[int, Field(ge=1, le=_MOST_RESULTS)] | None = None


class WebSearchTool(BuiltInTool):
    """Asks one provider, whose address no argument changes.

    Args:
        provider: A name of `PROVIDERS`.
        key: See `ReadKey`; called inside `execute` alone.
        limits: See `SearchLimits`.
        per_minute: Searches of one scope in a minute; 0 allows none.
        web: Asks the provider.
        clock: For the minute, and for when a provider may be asked again.
    """

    name = "web_search"
    words = (
        "Search the web and return titles, addresses and short texts. The query goes to a search "
        "provider."
    )
    action = "search"
    arguments = WebSearchArguments
    roles = ("proxy", "planner", "executor")  # spec 7.1 to 7.3
    scopes = ()  # it acts on nothing of the owner's
    approved = False  # a look-up that a turn may make; what its query rests on, the door asks
    repeatable = True
    previewed = "Would search the web."

    def __init__(
        self,
        provider: str,
        key: ReadKey,
        limits: SearchLimits,
        per_minute: int,
        web: WebClient,
        clock: Clock,
    ) -> None:
        self._provider = PROVIDERS[provider]
        self._key = key
        self._limits = limits
        self._per_minute = per_minute
        self._web = web
        self._clock = clock
        self._asked: dict[str, deque[datetime]] = {}

    @property
    def description(self) -> str:
        """What it does, for the model."""
        only = ", ".join(self._limits.allowed_domains)
        return f"{self.words}{f' Only in: {only}.' if only else ''}"

    def validate(self, args: dict[str, Any]) -> dict[str, Any]:
        """The canonical arguments; `ValueError` with one sentence otherwise."""
        valid = super().validate(args)
        longest = self._limits.max_query_chars
        if len(valid["query"]) > longest:
            raise ValueError(f"query: must not be longer than {longest} characters")
        try:
            valid["query"].encode("utf-8")
        except UnicodeEncodeError:
            raise ValueError("query: must be valid Unicode") from None
        return valid

    def facts(self, action: str, request: dict[str, Any]) -> CallFacts:
        """Its query leaves this machine, for the one provider the owner chose."""
        return CallFacts(state_changing=False, egress=True, addressed=False)

    async def execute(
        self, action: str, request: dict[str, Any], context: ToolCallContext
    ) -> ToolResult:
        """Search.

        Raises:
            RateLimited: The provider, or the limit per minute, wants a pause; nothing was done.
            ToolUnavailable: The provider failed, or its answer cannot be read.
            OSError, TimeoutError, h11.RemoteProtocolError: It broke off after it was asked.
        """
        self._count(context.scope_id)
        limits = self._limits
        count = min(request.get("max_results", limits.max_results), limits.max_results)
        try:
            key = self._key()
        except SilasError as error:
            raise _down(error.message) from error
        ask = self._provider.ask(request["query"], count, limits.allowed_domains, key)
        try:
            answer = await self._web.ask(
                ask.to,
                whose=(context.task_id, self.tool_name),
                seconds=limits.timeout_seconds,
                most=MAX_BYTES,
                headers={"User-Agent": "Silas", "Accept": "application/json", **ask.headers},
                body=ask.body,
            )
        except HttpRequestNotSent as error:
            raise _down(str(error)) from error
        found = [one for one in self._results(answer) if _within(one.url, limits.allowed_domains)]
        text = _results_text(found[:count])
        return ToolResult(
            ok=True,
            # a provider that repeats what it was sent must not tell the key to a model
            return_value=scrub(text.replace(key, "[key]")),
            metadata={"results": len(found), "status": answer.status},
            taint=TaintLevel.external,
            origin=OriginKind.web,
            source=ask.to.there.host,
        )

    def _count(self, scope: str) -> None:
        """Take note of one search of a scope; raises `RateLimited` beyond the limit."""
        now, minute = self._clock.now(), timedelta(minutes=1)
        asked = self._asked.setdefault(scope, deque())
        while asked and asked[0] <= now - minute:
            asked.popleft()
        if len(asked) >= self._per_minute:
            resets = (asked[0] if asked else now) + minute
            raise RateLimited("There were too many searches within a minute; wait.", resets)
        asked.append(now)

    def _results(self, answer: HttpResponse) -> list[SearchResult]:
        if answer.status == _BUSY:
            resets = _resets_at(answer.headers, self._clock.now())
            raise RateLimited("The search provider wants a pause; go on without it.", resets)
        if answer.status in _KEY_REFUSED:
            raise _down("The search provider refused the key; check `search.api_key`.")
        if answer.status != _OK or answer.cut:
            raise _down(f"The search provider failed (status {answer.status}).")
        try:
            return self._provider.results(json.loads(answer.body))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise _down("The search provider's answer cannot be read.") from error


def _down(why: str) -> ToolUnavailable:
    return ToolUnavailable(why, code="E_TOOL_UNAVAILABLE")


def _within(url: str, domains: Sequence[str]) -> bool:
    """Whether a result is a page of the web, and of one of these domains if there are any."""
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").rstrip(".")
    except ValueError:
        return False
    if parts.scheme not in ("http", "https") or not host:
        return False
    return not domains or any(host == only or host.endswith(f".{only}") for only in domains)


def _results_text(found: Sequence[SearchResult]) -> str:
    lines = [
        f"{number}. {_line(one.title, _TITLE)}\n   {_line(one.url, _LINK)}\n"
        f"   {_line(one.snippet, _SNIPPET)}"
        for number, one in enumerate(found, 1)
    ]
    return "\n".join(lines) or "Nothing found."


def _line(text: str, most: int) -> str:
    return " ".join(text.split())[:most]


def _resets_at(headers: Mapping[str, str], now: datetime) -> datetime:
    """When a provider may be asked again, as it says; bounded both ways."""
    wait = _retry_after(headers, now) or _limit_reset(headers) or _DEFAULT_WAIT
    return now + min(max(wait, timedelta(seconds=1)), _LONGEST_WAIT)


def _retry_after(headers: Mapping[str, str], now: datetime) -> timedelta | None:
    told = headers.get("retry-after", "").strip()
    if _NUMBER.fullmatch(told):
        return timedelta(seconds=int(told))
    try:
        at = parsedate_to_datetime(told)
    except ValueError:
        return None
    return at - now if at.tzinfo is not None else None


def _limit_reset(headers: Mapping[str, str]) -> timedelta | None:
    """The longest of the windows that are used up: `X-RateLimit-Reset: 1, 86400`."""
    resets, left = (
        [part.strip() for part in headers.get(f"x-ratelimit-{name}", "").split(",")]
        for name in ("reset", "remaining")
    )
    waits = [
        int(seconds)
        for seconds, remaining in zip(resets, left, strict=False)
        if _NUMBER.fullmatch(seconds) and remaining == "0"
    ]
    return timedelta(seconds=max(waits)) if waits else None
