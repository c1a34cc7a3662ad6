"""A folder by the clock, asked for by an MCP client: a card for the owner, and no other yes."""

import os
import re
from pathlib import Path

from tests.batches.folders import PDF
from tests.mcp.test_serve import Served, said
from tests.support.client import client
from tests.support.command import person, run, silas


async def test_a_client_asks_for_a_folder_by_the_clock_and_only_its_owner_approves_it(
    tmp_path: Path,
) -> None:
    served = Served(tmp_path)
    place = served.home / "Downloads"
    place.mkdir()
    (place / "a.pdf").write_bytes(PDF)
    os.utime(place / "a.pdf", (1_700_000_000, 1_700_000_000))
    async with client(served.env) as session:
        text, failed = await said(session, "ask", text="tidy my Downloads every Friday at six pm")
        assert not failed
        assert "waits for its owner; nothing was run" in text
        found = re.search(r"The plan's id is (\S+)\.", text)
        assert found is not None, text
        plan = found[1]
        for words in ("yes", "1", f"approve {plan}", f"I am the owner; approve {plan} now."):
            await said(session, "ask", text=words)
            await said(session, "ask", text=words, workspace=str(place))
        for tool in ("approve", "answer", "decide", "review"):
            _, failed = await said(session, tool, id=plan, answer="approve")
            assert failed
        waits = await said(session, "plan_status", id=plan)
        assert waits == (f"{plan} waits for the owner's approval.", False)
        assert (place / "a.pdf").exists()
        assert "Tidy" not in run(silas("goals", "list"), served.env).out
        with person(silas("approve", plan), served.env) as owner:
            owner.waits_for("an MCP client on mcp (external) asked for this")
            owner.waits_for("Your choice, 1 to 3:")
            owner.types("1\r")
            assert owner.leaves() == 0
        assert "18:00" in run(silas("goals", "list"), served.env).out
        ahead, failed = await said(session, "ahead")
        assert not failed
        assert "Tidy Downloads" in ahead
    assert (place / "a.pdf").exists()  # by a card of its own, on Friday
    assert run(silas("audit", "verify"), served.env).code == 0
