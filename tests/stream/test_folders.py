"""What was said about one folder is not in view of a conversation about another (5.1.3)."""

from pathlib import Path

import pytest

from silas.testing import Harness, MockClock, ScriptedModel
from tests.stream.kit import direct, said, soon

ASKED = [
    ("one", "rename the invoices"),
    ("two", "count the photos"),
    ("one", "and the letters"),
    ("two", "and the films"),
]
SEEN = {
    "rename the invoices": [],
    "count the photos": [],
    "and the letters": ["rename the invoices"],
    "and the films": ["count the photos"],
}


def seen(proxy: ScriptedModel, number: int) -> list[str]:
    """Which of the earlier messages a request showed."""
    before = [text for _, text in ASKED[:number]]
    return [text for text in before if f"] owner: {text}" in proxy.requests[number].text]


@pytest.mark.parametrize("restarts", [False, True])
async def test_each_folder_has_its_own_conversation_in_view(tmp_path: Path, restarts: bool) -> None:
    home, clock = tmp_path / "home", MockClock()
    home.mkdir()
    proxy = ScriptedModel([direct("Right.")] * len(ASKED))
    models = {"proxy": proxy}
    places = {name: tmp_path / name for name, _ in ASKED}
    if restarts:
        for name, text in ASKED:
            async with Harness(models=models, home=home, clock=clock) as h:
                await soon(h.silas.ask(text, workspace=places[name]))
    else:
        async with Harness(models=models, home=home, clock=clock) as h:
            for name, text in ASKED:
                await soon(h.silas.ask(text, workspace=places[name]))
    assert {text: seen(proxy, n) for n, (_, text) in enumerate(ASKED)} == SEEN


async def test_what_names_no_folder_is_in_view_of_all(tmp_path: Path) -> None:
    proxy = ScriptedModel([direct("Right.")] * 3)
    async with Harness(models={"proxy": proxy}) as h:
        await soon(h.silas.stream.handle(said(h, "good day")))
        await soon(h.silas.ask("count the photos", workspace=tmp_path))
        await soon(h.silas.stream.handle(said(h, "and now?")))
    assert ": good day" in proxy.requests[1].text
    assert ": good day" in proxy.requests[2].text
    assert "count the photos" not in proxy.requests[2].text
