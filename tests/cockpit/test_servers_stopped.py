"""The emergency stop and servers of tools: nothing is added, looked at, trusted or tried."""

import asyncio
from pathlib import Path
from typing import Any

from silas.cards import Card
from tests.cockpit.house import a_house
from tests.cockpit.test_servers import NOTHING, Owning
from tests.mcp.test_over_http import Web, on_the_web


class Hesitating(Owning):
    """Answers the first card only when it is told to."""

    def __init__(self) -> None:
        super().__init__("recommended", "recommended")
        self.asked = asyncio.Event()
        self.go = asyncio.Event()

    async def ask(self, to: str, card: Card[Any]) -> Any:
        self.asked.set()
        await self.go.wait()
        return await super().ask(to, card)


async def test_while_silas_is_stopped_no_server_is_added_looked_at_or_tried(
    tmp_path: Path,
) -> None:
    (tmp_path / "config.yaml").write_text("silas: {}\n", encoding="utf-8")
    web = Web()
    async with on_the_web(web) as settings:
        channel = Owning()
        async with a_house(channel, home=tmp_path, settings=settings) as house:
            assert (await house.post("/stop")).status_code == 200
            new = {**NOTHING, "name": "far", "url": "https://a.example/mcp"}
            for path, body in (
                ("/connections", new),
                ("/connections/web/trust", {}),
                ("/connections/web/retry", {}),
            ):
                refused = await house.signed(path, **body)
                assert refused.status_code == 409, (path, refused.text)
                assert refused.json()["code"] == "E_STOPPED_EMERGENCY"
            assert (web.headers, channel.cards) == ([], [])
            assert (await house.signed("/connections/web/distrust")).status_code == 200


async def test_a_yes_that_comes_after_the_stop_trusts_and_adds_nothing(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text("silas: {}\n", encoding="utf-8")
    web = Web()
    new = {**NOTHING, "name": "far", "url": "https://a.example/mcp"}
    async with on_the_web(web) as settings:
        for path, body in (("/connections/web/trust", {}), ("/connections", new)):
            channel = Hesitating()
            async with a_house(channel, home=tmp_path, settings=settings) as house:
                assert (await house.signed(path, **body)).status_code == 200
                await channel.asked.wait()
                assert (await house.post("/stop")).status_code == 200
                channel.go.set()
                while "Silas is stopped" not in await channel.hears():
                    pass  # what it told at its start, and the answer
                [row] = (await house.get("/connections"))["servers"]
                assert row["standing"] == "untrusted"
                assert file.read_text(encoding="utf-8") == "silas: {}\n"
                assert (await house.signed("/resume")).status_code == 200
