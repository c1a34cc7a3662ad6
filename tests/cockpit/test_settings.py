"""Settings are saved from the cockpit: shown first, and asked about where Silas may do more."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from silas.canonical import canonical_json
from silas.channels.web.wire import Proof, command_bytes
from silas.config import load_config
from silas.config.edit_values import value_of
from silas.services.setup.saved_settings import SETTINGS
from tests.cockpit.house import House, a_house, proof
from tests.cockpit.test_answering import Deciding
from tests.support.waits import SECONDS

MEMORY, AMBIGUITY = (
    "sandbox.default_memory_mb",
    "interaction.require_confirmation_on_material_ambiguity",
)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with a configuration as people write it."""
    text = "silas:\n  # mine\n  sandbox: { tools: { discover: false } }\n"
    (tmp_path / "config.yaml").write_text(text, encoding="utf-8")
    return tmp_path


def _written(home: Path, name: str) -> Any:
    return value_of(load_config(home / "config.yaml", {"SILAS_HOME": str(home)}), name)


async def _save(house: House, **changes: Any) -> Any:
    named = {name.replace("__", "."): value for name, value in changes.items()}
    return await house.signed("/settings/saved", changes=named)


async def test_what_narrows_is_shown_then_saved_and_counts_from_the_next_start(home: Path) -> None:
    async with a_house(home=home) as house:
        told = await house.post("/settings/shown", changes={MEMORY: 64})
        assert told.json() == {
            "file": str(home / "config.yaml"),
            "changes": [{"words": "Memory for one run: 512 MB → 64 MB", "widens": False}],
            "asks": False,
        }
        assert _written(home, MEMORY) == 512
        saved = await _save(house, sandbox__default_memory_mb=64)
        assert saved.json()["asks"] is False
        made = Proof.model_validate(proof())
        about = canonical_json({MEMORY: 64})
        assert house.door.proved == [command_bytes("settings", about, made)]
        assert _written(home, MEMORY) == 64
        rows = {row["name"]: row for row in (await house.get("/settings/saved"))["rows"]}
        assert (rows[MEMORY]["value"], rows[MEMORY]["in_force"]) == (64, 512)
        said = await house.said()
    (one,) = [entry["data"] for entry in said if entry["event"] == "settings_saved"]
    assert one == {"names": [MEMORY], "widened": []}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        (MEMORY, 1024),
        (AMBIGUITY, False),
        ("limits.max_delegation_depth", 4),
        ("audit.checkpoint_minutes", 120),
    ],
)
@pytest.mark.parametrize("answer", ["recommended", "decline"])
async def test_what_lets_silas_do_more_is_saved_on_a_yes_alone(
    home: Path, name: str, value: Any, answer: str
) -> None:
    channel = Deciding()
    async with a_house(channel, home=home) as house:
        before = _written(home, name)
        saved = await house.signed("/settings/saved", changes={name: value})
        assert saved.json()["asks"] is True, saved.text
        await channel.shown.wait()
        assert _written(home, name) == before
        channel.decided.set_result(answer)
        if answer == "recommended":
            await channel.told.wait()
        else:
            async with asyncio.timeout(SECONDS):
                while not await _declined(house):
                    await asyncio.sleep(0)
            assert await _declined(house) == [{"names": [name]}]
        assert _written(home, name) == (value if answer == "recommended" else before)


async def _declined(house: House) -> list[Any]:
    """What the record says of settings that got no yes."""
    return [one["data"] for one in await house.said() if one["event"] == "settings_declined"]


@pytest.mark.parametrize(
    ("before", "after", "asks"),
    [
        (None, ("22:00", "07:00"), False),  # quiet for the first time
        (("22:00", "07:00"), ("21:00", "07:00"), False),
        (("22:00", "07:00"), ("22:00", "07:01"), False),
        (("22:00", "07:00"), ("23:00", "07:00"), True),
        (("22:00", "07:00"), ("21:00", "06:59"), True),  # longer, and not at the same time
        (("22:00", "07:00"), ("00:00", "00:00"), True),
    ],
)
async def test_only_less_quiet_lets_silas_do_more(
    home: Path, before: tuple[str, str] | None, after: tuple[str, str], asks: bool
) -> None:
    if before:
        with (home / "config.yaml").open("a", encoding="utf-8") as file:
            file.write(f'  quiet_hours: {{ start: "{before[0]}", end: "{before[1]}" }}\n')
    start, end = after
    now = before or ("00:00", "00:00")
    changes = {
        name: value
        for name, value, was in zip(
            ("quiet_hours.start", "quiet_hours.end"), (start, end), now, strict=True
        )
        if value != was
    }
    async with a_house(home=home) as house:
        told = await house.post("/settings/shown", changes=changes)
    assert told.json()["asks"] is asks, told.text


@pytest.mark.parametrize(
    "name",
    [
        "models.proxy",
        "memory.embedding_base_url",
        "channels.web.host",
        "toolset_allow",
        "data_dir",
        "keys.backend",
        "search.api_key",
        "nothing.of.the.kind",
    ],
)
async def test_every_other_setting_is_refused(home: Path, name: str) -> None:
    assert name not in {one.name for one in SETTINGS}
    before = (home / "config.yaml").read_bytes()
    async with a_house(home=home) as house:
        for path in ("/settings/shown", "/settings/saved"):
            refused = (
                await house.signed(path, changes={name: "x"})
                if "saved" in path
                else (await house.post(path, changes={name: "x"}))
            )
            assert (refused.status_code, refused.json()["code"]) == (400, "E_CFG_SETTING")
    assert (home / "config.yaml").read_bytes() == before


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({MEMORY: 8}, "must be a whole number from 16 to 65536"),
        ({MEMORY: True}, "must be a whole number"),
        ({AMBIGUITY: "yes"}, "must be true, false"),
        ({"language": "fr"}, "must be null, en, de"),
        ({"quiet_hours.end": "25:00"}, "quiet_hours.end"),
        ({MEMORY: 512}, "Nothing is different"),
    ],
)
async def test_a_value_that_does_not_fit_is_refused_in_one_sentence(
    home: Path, changes: dict[str, Any], words: str
) -> None:
    async with a_house(home=home) as house:
        refused = await house.post("/settings/shown", changes=changes)
        assert refused.status_code == 400
        assert words in refused.json()["message"]
        assert "\n" not in refused.json()["message"]


async def test_a_second_question_about_settings_waits_for_the_first(home: Path) -> None:
    channel = Deciding()
    async with a_house(channel, home=home) as house:
        assert (await _save(house, sandbox__default_memory_mb=1024)).json()["asks"] is True
        await channel.shown.wait()
        again = await _save(house, sandbox__default_memory_mb=2048)
        assert (again.status_code, again.json()["code"]) == (409, "E_CFG_SETTING_ASKED")
        channel.decided.set_result("decline")
        await house.rooms.close()
        assert _written(home, MEMORY) == 512


async def test_what_is_not_signed_saves_nothing(home: Path) -> None:
    before = (home / "config.yaml").read_bytes()
    async with a_house(home=home) as house:
        body = {"changes": {MEMORY: 64}}
        wrong = await house.client.post("/settings/saved", json={**body, "proof": proof(b"no")})
        assert wrong.status_code == 403
        assert (await house.client.post("/settings/saved", json=body)).status_code == 400
    assert (home / "config.yaml").read_bytes() == before
