"""Small pictures on a batch's open card: made in the real sandbox, of the very file, bounded."""

import zlib
from pathlib import Path
from typing import Any

import pytest

from silas.cards import Card
from silas.cards.models import BatchReviewCard
from silas.testing import MockClock, ScriptedChannel, ScriptedModel
from tests.batches.folders import NOW, put
from tests.cockpit.house import House, a_house
from tests.cockpit.test_pictures import SVG, a_photograph, a_png, chunk, pixels
from tests.stream.kit import saying_yes


class Looking(ScriptedChannel):
    """The owner's page asks for the pictures of a batch while its card is open."""

    def __init__(self) -> None:
        super().__init__(saying_yes)
        self.house: House
        self.found: dict[str, tuple[int, bytes]] = {}
        self.batch_id = ""
        self.before_looking: Any = None

    async def ask(self, to: str, card: Card[Any]) -> Any:
        if isinstance(card, BatchReviewCard):
            self.batch_id = card.batch_id
            if self.before_looking is not None:
                self.before_looking()
            for number, row in enumerate(card.rows, 1):
                name = row.title.partition(". ")[2]
                answer = await self.look(number)
                assert row.picture or answer[0] == 409
                self.found[name] = answer
        return await super().ask(to, card)

    async def look(self, number: int) -> tuple[int, bytes]:
        answer = await self.house.client.get(f"/batches/{self.batch_id}/files/{number}/picture")
        return answer.status_code, answer.content


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path / "Downloads"


async def looked(place: Path, channel: Looking) -> None:
    models = {"proxy": ScriptedModel([])}
    async with a_house(channel, models=models, clock=MockClock(NOW)) as house:
        channel.house = house
        await house.harness.silas.tidy(place)
        assert (await channel.look(1))[0] == 404  # the card is closed


async def test_a_small_picture_is_made_of_the_pixels_and_of_nothing_else(place: Path) -> None:
    hidden = chunk(b"tEXt", b"Comment\0" + SVG)
    put(place, "big.png", a_png((500, 250), more=hidden) + SVG)
    put(place, "seen.JPG", a_photograph("JPEG", (900, 400)))
    put(place, "note.pdf", b"%PDF-1.7\n")
    put(place, "id_rsa.png", a_png())
    put(place, "broken.png", a_png()[:-30])
    channel = Looking()
    await looked(place, channel)
    status, made = channel.found["big.png"]
    assert (status, pixels(made).size) == (200, (160, 80))
    assert len(made) < 2_000
    assert b"svg" not in made + zlib.decompress(made[41:-16])
    assert pixels(made).tobytes() == b"\xc0\x20\x20" * 160 * 80
    assert (channel.found["seen.JPG"][0], channel.found["seen.JPG"][1][:2]) == (200, b"\xff\xd8")
    for name in ("note.pdf", "id_rsa.png", "broken.png"):
        assert channel.found[name][0] == 409


async def test_a_file_that_changed_since_shows_no_picture(place: Path) -> None:
    path = put(place, "a.png", a_png())
    put(place, "b.png", a_png((4, 4)))
    channel = Looking()
    channel.before_looking = lambda: path.write_bytes(a_png((9, 9)))
    await looked(place, channel)
    assert channel.found["a.png"][0] == 409
    assert b"changed since its card was shown" in channel.found["a.png"][1]
    assert channel.found["b.png"][0] == 200
