"""The card with what an MCP server says it is, before the owner trusts exactly that."""

import shlex
from typing import NamedTuple

from silas.cards import Action, Detail
from silas.cards.models import DecisionAnswer, DecisionCard
from silas.context import scrub
from silas.language import tr, tr_many
from silas.plans import show_lines
from silas.tools import RiskLevel
from silas.tools.mcp.definitions import ListingDrift, McpToolDefinition, ServerTools
from silas.tools.mcp.settings import MCPEntry
from silas.tools.mcp.trust import ServerTrust
from silas.types import Risk


class ServerInspection(NamedTuple):
    """What a server is now, beside what was trusted of it.

    Attributes:
        trusted: What was trusted of it until now.
        digest: Of the whole of it; trusting this look trusts exactly that.
    """

    entry: MCPEntry
    listing: ServerTools
    drift: ListingDrift
    trusted: ServerTrust
    digest: str


def trust_card(look: ServerInspection) -> DecisionCard:
    """Everything a model would see of a server, in plain words; silence trusts nothing."""
    entry, count = look.entry, len(look.listing.definitions)
    no, yes = DecisionAnswer(), DecisionAnswer(selected_value="trust", approved=True)
    return DecisionCard(
        intent=(
            tr("Trust the MCP server {name} with one tool, as it is now", name=entry.name)
            if count == 1
            else tr(
                "Trust the MCP server {name} with {count} tools, as they are now",
                name=entry.name,
                count=count,
            )
        ),
        risk=Risk.high,
        rationale=tr(
            "What it says of itself is its own word; it runs, and is rated, as shown here."
        ),
        details=(
            *_changes_since_trust(look),
            Detail(heading=tr("Server"), lines=tuple(server_lines(entry)), open=True),
            *(_tool_detail(look, each) for each in look.listing.definitions.values()),
            *_odd(look),
            Detail(heading=tr("Digest"), lines=(f"sha256:{look.digest}",), open=True),
        ),
        actions=(
            Action(
                label=tr_many(count, "Trust this tool", "Trust these {count} tools"),
                value=yes,
                role="recommended",
            ),
            Action(label=tr("Trust nothing new"), value=no, role="decline"),
        ),
        safe=no,
    )


def server_lines(entry: MCPEntry) -> list[str]:
    """What is started or reached, and what it may reach itself: all that its digest is of."""
    handling, server = entry.handling, entry.server
    if server.url is not None:
        far = tr("runs: over HTTP, outside this machine's sandbox: {words}", words=server.url)
        return [line for words in (far, *_given_lines(entry)) for line in show_lines(words)]
    none, words = tr("no file of yours"), shlex.join((server.command or "", *server.args))
    told = (
        tr("runs: in the sandbox, started with Silas: {words}", words=words),
        *([tr("stands in: {path}", path=str(server.cwd))] if server.cwd is not None else []),
        *_given_lines(entry),
        tr("reaches: {hosts}", hosts=", ".join(handling.network) or tr("no host")),
        tr("sees: {paths}", paths=", ".join(map(str, handling.read)) or none),
        tr("changes: {paths}", paths=", ".join(map(str, handling.write)) or none),
    )
    return [line for words in told for line in show_lines(words)]


def _given_lines(entry: MCPEntry) -> list[str]:
    """Its variables or headers: each with its secret, by name, and those written in the file."""
    server, uses = entry.server, entry.server.uses
    far = server.url is not None
    used = {use.name for use in uses}
    plain = ", ".join(sorted({*server.env, *server.headers} - used))
    written = (
        tr("is sent the headers: {names}", names=plain)
        if far
        else tr("is given the variables: {names}", names=plain)
    )
    return [
        *(
            tr(
                "is sent the header {name} from your secret {secret}: {text}",
                name=use.name,
                secret=", ".join(use.secrets),
                text=use.shown,
            )
            if far
            else tr(
                "is given the variable {name} from your secret {secret}: {text}",
                name=use.name,
                secret=", ".join(use.secrets),
                text=use.shown,
            )
            for use in uses
        ),
        *([written] if plain else []),
    ]


def _changes_since_trust(look: ServerInspection) -> list[Detail]:
    """What is not as it was trusted: the server itself, and the former words of each tool."""
    if not look.trusted.source:
        return []
    lines = list[str]()
    if look.trusted.source != look.entry.source:
        lines.append(tr("what it runs, or may reach, is not what you trusted"))
    for name in look.drift.changed:
        before = look.trusted.definitions[name]
        now = look.listing.definitions[name]
        if before.description != now.description:
            lines.append(tr("{tool} said: {words}", tool=name, words=scrub(before.description)))
            lines.append(tr("{tool} says now: {words}", tool=name, words=scrub(now.description)))
        if before.arguments_json != now.arguments_json:
            lines.append(tr("{tool} took: {words}", tool=name, words=before.arguments_json))
            lines.append(tr("{tool} takes now: {words}", tool=name, words=now.arguments_json))
    lines += [tr("{tool} is new", tool=name) for name in look.drift.new]
    lines += [tr("{tool} is gone", tool=name) for name in look.drift.gone]
    shown = tuple(part for line in lines for part in show_lines(line))
    return [Detail(heading=tr("Changed since you trusted it"), lines=shown, open=True)] * bool(
        shown
    )


def _tool_detail(look: ServerInspection, tool: McpToolDefinition) -> Detail:
    handling = look.entry.handling
    stands = ""
    if look.trusted.source and tool.name in (*look.drift.changed, *look.drift.new):
        stands = tr(", CHANGED") if tool.name in look.drift.changed else tr(", NEW")
    if not handling.offers(tool.name):
        rated = tr("not offered to models")
    else:
        risk = _RISKS[handling.rate.get(tool.name, RiskLevel.high)]()
        rated = (
            tr("{risk}, reads only, on your word", risk=risk)
            if tool.name in handling.reads
            else tr("{risk}, may change something", risk=risk)
        )
    lines = [
        f"{tool.tool_name}: {rated}{stands}",
        *scrub(tool.description).splitlines(),
        tr("arguments: {words}", words=tool.arguments_json),
    ]
    shown = tuple(part for line in lines for part in show_lines(line))
    return Detail(heading=tr("Tool {name}", name=tool.name), lines=shown, open=True)


_RISKS = {
    RiskLevel.low: lambda: tr("low risk"),
    RiskLevel.medium: lambda: tr("medium risk"),
    RiskLevel.high: lambda: tr("high risk"),
    RiskLevel.critical: lambda: tr("critical risk"),
}


def _odd(look: ServerInspection) -> list[Detail]:
    lines = [
        tr("{tool}: cannot be used, {why}", tool=name, why=tr(why))
        for name, why in look.listing.refused.items()
    ]
    shown = tuple(part for line in lines for part in show_lines(line))
    return [Detail(heading=tr("Not among them"), lines=shown)] if shown else []
