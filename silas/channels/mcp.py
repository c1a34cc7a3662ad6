"""Silas as an MCP server on standard input and output: what is offered, and who decides.

Whoever is on the other end is a stranger: what it asks is external, and no answer of its own ever
approves anything. A plan waits for the owner, who is somewhere else.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from errno import EPIPE
from importlib.metadata import version
from typing import Any, NamedTuple, TextIO, TypeVar, cast

from silas.cards import Card, ChannelMessage, PlanAnswer, PlanCard
from silas.errors import SilasError
from silas.plans import show_lines

AnswerT = TypeVar("AnswerT")

_INSTRUCTIONS = (
    "Silas does things for its owner. What you ask becomes an answer or a plan; a plan waits until "
    "the owner approves it on a channel of his own, and `plan_status` says what became of it."
)


class McpOffer(NamedTuple):
    """One thing that a client may ask for.

    Attributes:
        schema: JSON schema of the arguments; every property is text or a whole number.
        answer: Does it. Raises `SilasError` with a sentence for the client.
    """

    name: str
    description: str
    schema: dict[str, Any]
    answer: Callable[[Mapping[str, Any]], Awaitable[str]]


class OwnerElsewhere:
    """The channel of a server: nobody who may decide is here.

    A plan is left waiting, every other question has its safe answer, and what the owner should know
    goes to standard error.
    """

    channel_name = "mcp"

    def __init__(self, log: TextIO) -> None:
        self._log = log

    async def listen(self) -> AsyncIterator[tuple[ChannelMessage, str]]:
        """Requests come through the protocol, and not as lines."""
        for nothing in ():
            yield nothing

    async def send(self, recipient_id: str, text: str, reply_to: str | None = None) -> None:
        """A line on standard error; the client has its answer in the protocol."""
        del recipient_id, reply_to
        for line in text.split("\n"):
            self._log.write("\n".join(show_lines(line)) + "\n")
        self._log.flush()

    async def ask(self, to: str, card: Card[AnswerT]) -> AnswerT:
        """`waiting` for a plan; the safe answer for everything else."""
        del to
        if isinstance(card, PlanCard):
            return cast(AnswerT, PlanAnswer(verdict="waiting"))
        return card.safe


async def serve(offers: Sequence[McpOffer]) -> None:
    """Serve one client until it closes its end; everything the protocol does is the SDK's."""
    import mcp_types as types  # noqa: PLC0415 - only a server pays for it
    from mcp.server.lowlevel import Server  # noqa: PLC0415 - as above
    from mcp.server.stdio import stdio_server  # noqa: PLC0415 - as above

    known = {offer.name: offer for offer in offers}

    async def list_tools(ctx: object, params: object) -> types.ListToolsResult:
        del ctx, params
        return types.ListToolsResult(
            tools=[
                types.Tool(name=o.name, description=o.description, input_schema=o.schema)
                for o in offers
            ]
        )

    async def call_tool(ctx: object, params: types.CallToolRequestParams) -> types.CallToolResult:
        del ctx
        text, failed = await handle_call(known, params.name, params.arguments or {})
        content = types.TextContent(text=text)
        return types.CallToolResult(content=[content], is_error=failed)

    server: Server[Any] = Server(
        "silas",
        version=version("silas"),
        instructions=_INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    try:
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())
    except ExceptionGroup as several:
        # a client that was killed reads no more; the library's tasks wrap what that raises
        if several.split(BrokenPipeError)[1] is not None:
            raise
        raise BrokenPipeError(EPIPE, "The MCP client reads no more.") from several


class McpReply(NamedTuple):
    """What a client is told, and whether it is an error."""

    text: str
    failed: bool


async def handle_call(
    offers: Mapping[str, McpOffer], name: str, arguments: Mapping[str, Any]
) -> McpReply:
    """One call of a client. Any known error is one sentence."""
    offer = offers.get(name)
    if offer is None:
        return McpReply(f"Silas offers no {name[:64]!r}.", True)
    wrong = _objection(offer, arguments)
    if wrong:
        return McpReply(wrong, True)
    try:
        return McpReply(await offer.answer(arguments), False)
    except SilasError as error:
        return McpReply(str(error), True)


_KINDS = {"string": str, "integer": int}


def _objection(offer: McpOffer, arguments: Mapping[str, Any]) -> str:
    """Why arguments do not fit, or nothing."""
    known: dict[str, dict[str, Any]] = offer.schema["properties"]
    for name in offer.schema.get("required", ()):
        if name not in arguments:
            return f"{offer.name} needs {name!r}."
    for name, value in arguments.items():
        if name not in known:
            return f"{offer.name} takes no {name[:64]!r}."
        kind = known[name]["type"]
        if not isinstance(value, _KINDS[kind]) or isinstance(value, bool):
            return f"{name!r} must be of type {kind}."
        if isinstance(value, str) and len(value) > known[name]["maxLength"]:
            return f"{name!r} must not be longer than {known[name]['maxLength']} characters."
    return ""
