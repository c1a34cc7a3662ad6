"""A plan reaches the hosts it names and no other, from the agent's run and from its checks."""

import asyncio
import json
import shlex
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from silas.audit.log import AuditLog
from silas.cards import PlanCard
from silas.config import load_config
from silas.home.runtime import sandbox_of
from silas.plans import WorkItemResult, WorkItemStatus
from silas.sandbox import (
    DeniedTraffic,
    Endpoint,
    SandboxConfig,
    SandboxFiles,
    SandboxLimits,
    default,
)
from silas.sandbox.network.names import Reason
from silas.testing import FakeOutside, FakeSandbox, Harness, ScriptedChannel, plan_text
from silas.testing.tools import exit_result
from tests.sandbox.conftest import PYTHON, PYTHON_MOUNTS
from tests.sandbox.test_proxy import ANSWER, HERE, Recorded, Server, answers, serving
from tests.support.waits import SECONDS
from tests.work.kit import DONE, argv, at_work, owner

READ = [str(mount.source) for mount in PYTHON_MOUNTS]


def fetch(url: str) -> str:
    """One line of shell that prints what is at an address, or fails."""
    source = "import sys, urllib.request as r; print(r.urlopen(sys.argv[1]).read().decode())"
    return f"{shlex.quote(PYTHON)} -I -c {shlex.quote(source)} {url}"


def runbook(url: str, **fields: Any) -> str:
    """A plan for the built-in model, which runs the block of its briefing."""
    check = {"name": "fetched", "run": "cat page.txt", "expect": {"equals": "hi"}}
    return plan_text(
        **{
            "body": f"Fetch it.\n\n```sh\n{fetch(url)} > page.txt\n```",
            "budget": {"max_attempts": 1},
            "read": READ,
            "verify": [check],
            **fields,
        }
    )


@asynccontextmanager
async def online() -> "AsyncGenerator[Online]":
    """A wired Silas with the real sandbox, and two names that lead to one loopback server."""
    async with serving(answers) as server:
        outside = FakeOutside({"a.example": [HERE], "b.example": [HERE]}, {HERE: server.port})
        channel = owner()
        sandbox = default(SandboxConfig(), outside=outside)
        async with Harness(channel, sandbox=sandbox) as harness:
            yield Online(harness, channel, server)


class Online:
    """What `online` gives."""

    def __init__(self, harness: Harness, channel: ScriptedChannel, server: Server) -> None:
        self.harness, self.channel, self.server = harness, channel, server

    async def run(self, plan: str) -> WorkItemResult:
        """Propose, approve, run."""
        return await self.harness.silas.run(plan)

    async def record(self, prefix: str = "network_") -> list[tuple[str, dict[str, Any]]]:
        """What was recorded of the network."""
        audit = self.harness.audit
        assert isinstance(audit, AuditLog)
        bodies = [json.loads(entry.body) for entry in await audit.entries(0, 10_000)]
        return [(b["event"], b["data"]) for b in bodies if b["event"].startswith(prefix)]


@pytest.mark.proves("B1-NAMED-HOSTS")
async def test_an_approved_plan_fetches_from_the_host_it_names(tmp_path: Path) -> None:
    async with online() as world:
        plan = runbook("http://a.example/x", network=["a.example"], workspace=str(tmp_path))
        result = await world.run(plan)
        assert result.status is WorkItemStatus.done, result.summary
        [card] = [card for card in world.channel.cards if isinstance(card, PlanCard)]
        touches = next(d.lines for d in card.details if d.heading == "What it may touch")
        assert "may reach over the network: `a.example` (443 and 80)" in touches
        whose = {"work_item_id": "task-example", "purpose": "agent", "host": "a.example"}
        sent = len(world.server.received)
        traffic = {"connections": 1, "bytes_out": sent, "bytes_in": len(ANSWER)}
        assert await world.record() == [
            ("network_opened", {**whose, "port": 80, "addresses": [HERE]}),
            ("network_used", {**whose, "port": 80, **traffic}),
        ]
        assert (await world.harness.audit.verify_chain()).valid
    assert (tmp_path / "page.txt").read_text() == "hi\n"


@pytest.mark.proves("B1-NAMED-HOSTS")
async def test_a_host_that_the_plan_does_not_name_is_refused_and_recorded() -> None:
    async with online() as world:
        result = await world.run(runbook("http://b.example/", network=["a.example"]))
        assert result.status is WorkItemStatus.stuck
        [(event, data)] = await world.record()
    assert event == "network_refused"
    assert data == {
        "work_item_id": "task-example",
        "purpose": "agent",
        "what": "b.example:80",
        "reason": "host_not_listed",
        "times": 1,
    }
    assert world.server.received == b""


@pytest.mark.proves("B1-NO-NETWORK")
async def test_a_plan_that_names_no_host_reaches_none() -> None:
    async with online() as world:
        result = await world.run(runbook("http://a.example/"))
        assert result.status is WorkItemStatus.stuck
        assert await world.record() == []
    assert world.server.received == b""


@pytest.mark.proves("S5.3-NO-NETWORK", "B1-NAMED-HOSTS")
@pytest.mark.parametrize(
    ("network", "url", "plan", "reached"),
    [
        (False, "http://a.example/", ["a.example"], False),
        (True, "http://a.example/", [], True),
        (["a.example"], "http://a.example/", [], True),
        (["a.example:443"], "http://a.example/", [], False),
        (["b.example"], "http://a.example/", ["a.example"], False),
        ([], "http://a.example/", ["a.example"], False),
        (True, "http://$(echo a).example/", [], False),
        (True, "http://$(echo a).example/", ["a.example"], True),
    ],
)
async def test_a_check_reaches_what_it_names_and_true_means_the_hosts_written_in_the_plan(
    network: bool | list[str], url: str, plan: list[str], reached: bool
) -> None:
    check = {
        "name": "up",
        "run": fetch(url),
        "expect": {"equals": "hi"},
        "network": network,
    }
    body = "Nothing to do.\n\n```sh\ntrue\n```"
    async with online() as world:
        result = await world.run(runbook(url, body=body, verify=[check], network=plan))
        assert (result.status is WorkItemStatus.done) == reached
        events = await world.record()
    assert {data["purpose"] for _, data in events} <= {"check up"}
    assert ("network_used" in [event for event, _ in events]) == reached
    assert (world.server.received != b"") == reached


async def test_a_check_with_network_does_not_reach_the_hosts_own_services() -> None:
    async with online() as world:
        here = f"http://127.0.0.1:{world.server.port}/"
        check = {"name": "up", "run": fetch(here), "expect": {"equals": "hi"}, "network": True}
        plan = runbook(here, body="Go.\n\n```sh\ntrue\n```", verify=[check])
        assert (await world.run(plan)).status is WorkItemStatus.stuck
    assert world.server.received == b""


async def test_the_real_wiring_asks_the_machines_resolver_and_refuses_what_is_not_public(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    record, asked = Recorded(), list[object]()

    async def getaddrinfo(host: object, *_: object, **__: object) -> list[object]:
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 0))]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", getaddrinfo)
    there = (Endpoint("a.example", 80),)
    files = SandboxFiles(
        cwd=Path("/work"), mounts=PYTHON_MOUNTS, network=there, record=record, loopback=True
    )
    argv = ["/bin/sh", "-c", fetch("http://a.example/")]
    ran = await sandbox_of(load_config()).run(argv, SandboxLimits(wall_seconds=SECONDS), files)
    assert not ran.ok
    assert asked == ["a.example."]
    assert record.events == [DeniedTraffic("a.example", Reason.not_public)]


@pytest.mark.parametrize(
    ("network", "words"),
    [
        (["10.0.0.1"], "not an IP address"),
        (["a.example."], "must not end with a dot"),
        (["xn--a.example"], "punycode"),
        (["a.example:0"], "port"),
    ],
)
async def test_a_host_that_is_no_plain_name_is_never_run_even_where_no_parser_saw_it(
    network: list[str], words: str
) -> None:
    sandbox = FakeSandbox(lambda run: exit_result())
    check = {"name": "a", "run": "b", "expect": {"exit_code": 0}, "network": network}
    for fields in ({"network": network}, {"verify": [check]}):
        async with at_work(argv("true"), DONE, sandbox=sandbox) as work:
            result = await work.run(**fields)
            assert result.status is WorkItemStatus.blocked
            assert words in result.summary
    assert not sandbox.runs
