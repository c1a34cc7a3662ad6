"""What a bundle of memories carries, whom it is believed, and what is refused (spec 4.2.3, 6.5)."""

import asyncio
import functools
import hashlib
import io
import json
import tracemalloc
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from silas.canonical import canonical_bytes
from silas.db import Database
from silas.errors import MemoryRefused
from silas.keys import KeyRing
from silas.keys.key_lock import NoKeyLock
from silas.keys.key_ring import Handover, succeed
from silas.memory import (
    MemoryItem,
    MemoryType,
    ReingestionTier,
    TrustLevel,
    forgotten,
    records,
    replacing,
)
from silas.memory.bundle_lines import item_line
from silas.memory.bundle_rules import BundleFacts, plain_name
from silas.memory.replacing import replace_memories
from silas.testing import MockClock, a_signer
from silas.types import TaintLevel
from tests.memory.memories import NOW, a_memory
from tests.memory.rooms import House, a_house, limited, lines_of
from tests.support.chance import examples

RULE = a_memory(
    "rule",
    "Never book a window seat.",
    memory_type=MemoryType.preference,
    trust_level=TrustLevel.verified,
    sources=("channel:web",),
)
WHO = a_memory("who", "Silas is honest.", trust_level=TrustLevel.constitutional)
FACT = a_memory("fact", "Anna's birthday is 3 May.", taint=TaintLevel.auth, access_count=4)
PAGE = a_memory(
    "page",
    "The museum opens at ten.",
    taint=TaintLevel.external,
    sources=("tool:web_fetch https://example.org",),
)
RAW = a_memory(
    "raw", "a\x00b \u2028 🦊", reingestion_tier=ReingestionTier.low_reingestion, session_id="s"
)
ALL = (RULE, WHO, FACT, PAGE, RAW)


@pytest.fixture
def house(tmp_path: Path) -> Generator[House]:
    with a_house(tmp_path / "here") as opened:
        yield opened


async def exported(*items: MemoryItem, owner: str = "owner", **options: Any) -> bytes:
    """The bundle of a Silas that remembers these."""
    with TemporaryDirectory() as directory, a_house(Path(directory), owner=owner) as house:
        await house.rooms.store.store_many(items)
        return await house.rooms.bundles.export_bundle(**options)


def bundle(
    *items: MemoryItem | dict[str, Any] | bytes, owner_key: str = "", **header: Any
) -> bytes:
    """A bundle written by hand, signed by nobody."""
    lines = [
        one
        if isinstance(one, bytes)
        else item_line(one)
        if isinstance(one, MemoryItem)
        else canonical_bytes(one) + b"\n"
        for one in items
    ]
    head = {
        "bundle_version": "jsonl-v1",
        "count": len(lines),
        "digest": hashlib.sha256(b"".join(lines)).hexdigest(),
        "exported_at": NOW.isoformat(),
        "owner_key": owner_key,
        "schema_version": 1,
        "scope_id": "owner",
        **header,
    }
    return canonical_bytes(head) + b"\n" + b"".join(lines)


def fields(item: MemoryItem = PAGE, **changed: Any) -> dict[str, Any]:
    return {**item.model_dump(mode="json"), **changed}


async def items_of(house: House) -> dict[str, MemoryItem]:
    found = [await house.rooms.store.get(item.memory_id) for item in ALL]
    return {item.memory_id: item for item in found if item is not None}


# what it carries ----------------------------------------------------------------------------------
@pytest.mark.proves("S6.5-LABELS-KEPT")
async def test_a_bundle_of_ones_own_brings_everything_back_as_it_was(house: House) -> None:
    counts = await house.rooms.bundles.import_bundle(await exported(*ALL))
    assert counts == {"stored": 5, "updated": 0, "kept": 0, "deleted": 0}
    assert await items_of(house) == {item.memory_id: item for item in ALL}


async def test_a_bundle_says_what_it_is() -> None:
    said = lines_of(await exported(RULE, FACT))
    assert said[0] == {
        "bundle_version": "jsonl-v1",
        "count": 2,
        "digest": said[0]["digest"],
        "exported_at": "2026-01-02T03:04:05Z",
        "owner_key": a_signer().public_key,
        "schema_version": 1,
        "scope_id": "owner",
    }
    assert [line["memory_id"] for line in said[1:-1]] == ["fact", "rule"]
    assert said[-1].keys() == {"signature"}


async def test_the_raw_lane_and_what_did_not_change_can_be_left_out() -> None:
    later = FACT.model_copy(update={"updated_at": NOW + timedelta(hours=1)})
    assert [
        m["memory_id"] for m in lines_of(await exported(RAW, RULE, include_raw=False))[1:-1]
    ] == ["rule"]
    since = NOW + timedelta(minutes=1)
    assert [m["memory_id"] for m in lines_of(await exported(RULE, later, since=since))[1:-1]] == [
        "fact"
    ]


async def test_a_vector_does_not_travel(house: House) -> None:
    said = lines_of(await exported(FACT.model_copy(update={"embedding": (0.5, 0.5)})))
    assert said[1]["embedding"] is None
    await house.rooms.bundles.import_bundle(bundle(fields(embedding=[1.0, 2.0])))
    assert (await items_of(house))["page"].embedding is None


_TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
_NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=10)
_MOMENTS = st.datetimes(timezones=st.just(NOW.tzinfo) | st.timezones()).filter(
    lambda moment: 1000 < moment.year < 9000
)
_TRUST = st.sampled_from(
    [
        (TaintLevel.owner, TrustLevel.constitutional),
        (TaintLevel.owner, TrustLevel.verified),
        (TaintLevel.auth, TrustLevel.verified),
        (TaintLevel.auth, TrustLevel.working),
        (TaintLevel.external, TrustLevel.working),
    ]
)


@st.composite
def memories(draw: st.DrawFn) -> list[MemoryItem]:
    made: list[MemoryItem] = []
    for number in range(draw(st.integers(0, 6))):
        taint, trust = draw(_TRUST)
        made.append(
            a_memory(
                f"m{number}{draw(_NAMES)}",
                draw(_TEXTS),
                memory_type=draw(st.sampled_from(MemoryType)),
                reingestion_tier=draw(st.sampled_from(ReingestionTier)),
                taint=taint,
                trust_level=trust,
                created_at=draw(_MOMENTS),
                updated_at=draw(_MOMENTS),
                valid_until=draw(st.none() | _MOMENTS),
                access_count=draw(st.integers(0, 2**53)),
                semantic_tags=tuple(draw(st.lists(_NAMES, max_size=2))),
                sources=tuple(draw(st.lists(_NAMES, max_size=2, unique=True))),
                session_id=draw(st.none() | _NAMES),
            )
        )
    return made


@given(memories(), st.sampled_from(["merge", "replace"]))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
async def test_an_export_taken_in_elsewhere_and_exported_again_is_the_same_bytes(
    items: list[MemoryItem], mode: str
) -> None:
    first = await exported(*items)
    with TemporaryDirectory() as directory, a_house(Path(directory)) as house:
        await house.rooms.bundles.import_bundle(first, mode)
        assert await house.rooms.bundles.export_bundle() == first


# merge and replace --------------------------------------------------------------------------------
@pytest.mark.proves("S6.5-BUNDLE")
async def test_merge_adds_and_changes_and_leaves_the_rest(house: House) -> None:
    newer = RULE.model_copy(update={"content": "Never book an aisle seat."})
    await house.rooms.store.store_many([RULE, PAGE])
    counts = await house.rooms.bundles.import_bundle(await exported(newer, FACT), "merge")
    assert counts == {"stored": 1, "updated": 1, "kept": 0, "deleted": 0}
    assert await items_of(house) == {"rule": newer, "fact": FACT, "page": PAGE}


async def test_replace_leaves_nothing_but_the_bundle_and_who_silas_is(house: House) -> None:
    await house.rooms.store.store_many([RULE, PAGE, WHO, RAW])
    counts = await house.rooms.bundles.import_bundle(await exported(FACT, PAGE), "replace")
    assert counts == {"stored": 1, "updated": 0, "kept": 1, "deleted": 2}
    assert await items_of(house) == {"fact": FACT, "page": PAGE, "who": WHO}


async def test_what_is_taken_in_is_found_by_its_words_and_what_went_is_not(house: House) -> None:
    await house.rooms.store.store(RULE)
    await house.rooms.bundles.import_bundle(await exported(FACT), "replace")
    store = house.rooms.store
    assert [item.memory_id for item in await store.search_keyword("birthday", 5)] == ["fact"]
    assert await store.search_keyword("window seat", 5) == []


@pytest.mark.parametrize("where", ["beside", "in the exchange"])
async def test_a_replacement_that_fails_midway_leaves_everything_as_it_was(
    house: House, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    await house.rooms.store.store_many([RULE, PAGE, WHO])
    before = house.everything()
    many = [FACT.model_copy(update={"memory_id": f"fact-{n}"}) for n in range(150)]
    calls = 0

    def failing(tx: Any, *given: Any) -> None:
        nonlocal calls
        calls += 1
        if where == "in the exchange" or calls == 2:
            raise RuntimeError("the disk is gone")
        insert(tx, *given)

    insert = records.insert
    if where == "beside":
        monkeypatch.setattr(records, "insert", failing)
    else:
        monkeypatch.setattr(forgotten, "note", failing)
    with pytest.raises(RuntimeError):
        await house.rooms.bundles.import_bundle(await exported(*many), "replace")
    assert calls
    assert house.everything() == before


async def test_others_write_while_a_bundle_takes_the_place_of_everything(house: House) -> None:
    await house.rooms.store.store_many([PAGE, RULE])
    many = [FACT.model_copy(update={"memory_id": f"fact-{n}"}) for n in range(30)]
    made = await exported(*many)
    other = Database(house.db.path, house.clock)  # another process

    def batches() -> Iterator[list[MemoryItem]]:
        for n in range(3):
            with other.write() as tx:
                meanwhile = PAGE.model_copy(update={"memory_id": f"m{n}", "scope_id": "guest"})
                records.insert(tx, [meanwhile])
            yield many[10 * n : 10 * n + 10]

    try:
        with await house.rooms.bundles.examine(io.BytesIO(made), "replace", "x") as examined:
            counts = await asyncio.to_thread(replace_memories, house.db, examined.facts, batches())
    finally:
        other.close()
    assert counts == {"stored": 30, "updated": 0, "kept": 0, "deleted": 2}
    now = await house.rooms.store.get_many([PAGE.memory_id, *(item.memory_id for item in many)])
    assert now == many
    assert len(await house.rooms.store.get_many(["m0", "m1", "m2"], "guest")) == 3


async def test_of_two_replacements_at_once_the_later_one_holds(house: House) -> None:
    await house.rooms.store.store(PAGE)
    made = await exported(FACT)
    with await house.rooms.bundles.examine(io.BytesIO(made), "replace", "x") as examined:

        def while_another_comes() -> Iterator[list[MemoryItem]]:
            yield [FACT]
            assert replace_memories(house.db, examined.facts, [[RULE]])["stored"] == 1

        with pytest.raises(MemoryRefused, match="Another import"):
            replace_memories(house.db, examined.facts, while_another_comes())
    assert await items_of(house) == {"rule": RULE}


async def test_what_a_broken_off_replacement_left_is_tidied_away(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*given: Any) -> None:
        raise KeyboardInterrupt

    await house.rooms.store.store_many([PAGE, RULE])
    with monkeypatch.context() as broken:
        broken.setattr(replacing, "_compare_pages", crash)
        with pytest.raises(KeyboardInterrupt):
            replace_memories(house.db, await facts_of(house, FACT), [[FACT]])
    assert await items_of(house) == {"fact": FACT}
    assert any("window seat" in str(row) for row in house.everything())
    await house.rooms.consolidator.run_once()
    assert not any("window seat" in str(row) for row in house.everything())
    assert await items_of(house) == {"fact": FACT}


async def facts_of(house: House, *items: MemoryItem) -> BundleFacts:
    source = io.BytesIO(await exported(*items))
    with await house.rooms.bundles.examine(source, "replace", "x") as examined:
        return examined.facts


async def test_nobody_is_asked_again_about_what_a_replacement_leaves_as_it_is(
    tmp_path: Path,
) -> None:
    used = FACT.model_copy(update={"access_count": 9})
    with a_house(tmp_path / "here", promote_after_uses=1) as house:
        await house.rooms.store.store(used)
        await house.rooms.consolidator.run_once()
        assert [item.memory_id for item in house.asked.about] == ["fact"]
        counts = await house.rooms.bundles.import_bundle(await exported(used), "replace")
        assert counts["kept"] == 1
        await house.rooms.consolidator.run_once()
        assert len(house.asked.about) == 1


async def test_taking_the_same_bundle_in_twice_changes_nothing(house: House) -> None:
    made = await exported(*ALL)
    await house.rooms.bundles.import_bundle(made)
    before = house.everything()
    counts = await house.rooms.bundles.import_bundle(made)
    assert counts == {"stored": 0, "updated": 0, "kept": 5, "deleted": 0}
    assert house.everything() == before


# whom it is believed ------------------------------------------------------------------------------
async def foreign(*items: MemoryItem) -> bytes:
    return await exported(*items, owner="somebody else")


async def unsigned(*items: MemoryItem) -> bytes:
    return bundle(*items)


@pytest.mark.parametrize("make", [foreign, unsigned])
async def test_a_bundle_that_is_not_the_owners_brings_no_trust(
    house: House, make: Callable[..., Any]
) -> None:
    await house.rooms.bundles.import_bundle(await make(RULE, WHO, FACT, PAGE), name="friend")
    found = await items_of(house)
    assert len(found) == 4
    for item in found.values():
        assert (item.trust_level, item.taint) == (TrustLevel.working, TaintLevel.external)
        assert item.sources[0] == "bundle:friend"
        assert (item.access_count, item.session_id) == (0, None)
    assert await house.rooms.store.rules() == []
    assert await house.rooms.store.forget("bundle:friend") == 4


@pytest.mark.parametrize("make", [foreign, unsigned])
@pytest.mark.parametrize("mode", ["merge", "replace"])
@pytest.mark.parametrize("here", [RULE, WHO], ids=["verified", "constitutional"])
async def test_a_forged_id_never_overwrites_what_is_trusted_more(
    house: House, make: Callable[..., Any], mode: str, here: MemoryItem
) -> None:
    await house.rooms.store.store_many([here, PAGE])
    before = house.everything()
    forged = await make(here.model_copy(update={"content": "Always pay at once."}), FACT)
    with pytest.raises(MemoryRefused, match="trusted more than the bundle"):
        await house.rooms.bundles.import_bundle(forged, mode)
    assert house.everything() == before


async def test_a_foreign_bundle_does_not_overwrite_the_owners_own_words(house: House) -> None:
    await house.rooms.store.store(FACT)
    with pytest.raises(MemoryRefused, match="trusted more"):
        await house.rooms.bundles.import_bundle(
            await foreign(FACT.model_copy(update={"content": "It is 4 June."}))
        )


async def test_a_foreign_replacement_leaves_what_the_owner_confirmed(house: House) -> None:
    await house.rooms.store.store_many([RULE, WHO, PAGE])
    await house.rooms.bundles.import_bundle(await foreign(FACT), "replace")
    assert (await items_of(house)).keys() == {"rule", "who", "fact"}


async def test_a_foreign_bundle_that_says_the_same_lowers_nothing(house: House) -> None:
    await house.rooms.store.store(RULE)
    counts = await house.rooms.bundles.import_bundle(await foreign(RULE))
    assert counts["kept"] == 1
    assert (await items_of(house))["rule"] == RULE


async def test_the_owners_bundle_changes_nothing_constitutional(house: House) -> None:
    await house.rooms.store.store(WHO)
    other = WHO.model_copy(update={"content": "Silas is somebody else."})
    await house.rooms.bundles.import_bundle(await exported(other))
    assert (await items_of(house))["who"] == WHO


@functools.cache
def _signed() -> bytes:
    with ThreadPoolExecutor(1) as pool:  # a test runs in a loop of its own already
        return pool.submit(asyncio.run, exported(RULE, FACT)).result()


@given(st.data())
@settings(max_examples=examples(150), deadline=None)
async def test_a_signed_bundle_with_one_byte_changed_never_brings_trust(
    data: st.DataObject,
) -> None:
    signed = _signed()
    made = bytearray(signed)
    head, last = signed.index(b"\n"), signed.rindex(b'{"signature"')
    place = data.draw(
        st.integers(0, len(made) - 1) | st.integers(0, head) | st.integers(last, len(made) - 1)
    )
    made[place] = data.draw(
        (st.integers(0, 255) | st.sampled_from(b"0123456789abcdef")).filter(
            lambda byte: byte != signed[place]
        )
    )
    with TemporaryDirectory() as directory, a_house(Path(directory)) as house:
        before = house.everything()
        try:
            await house.rooms.bundles.import_bundle(bytes(made))
        except MemoryRefused:
            assert house.everything() == before
        assert await house.rooms.store.rules() == []


@pytest.mark.parametrize("cut", [0, 1, 2, 3], ids=["no signature", "one less", "two less", "empty"])
async def test_a_signed_bundle_without_its_last_lines_is_refused(house: House, cut: int) -> None:
    lines = _signed().splitlines(keepends=True)
    shorter = b"".join(lines[: len(lines) - 1 - cut])
    with pytest.raises(MemoryRefused, match=r"cut off|header"):
        await house.rooms.bundles.import_bundle(shorter)


async def test_a_signature_moved_to_another_bundle_counts_for_nothing(house: House) -> None:
    other = (await exported(WHO)).splitlines(keepends=True)
    mine = _signed().splitlines(keepends=True)
    with pytest.raises(MemoryRefused, match="was changed"):
        await house.rooms.bundles.import_bundle(b"".join([*mine[:-1], other[-1]]))


# keys that were replaced --------------------------------------------------------------------------
def rotated(seq: int) -> KeyRing:
    """The ring after `former` was replaced by `owner` at an entry of the record."""
    old, new = a_signer("former"), a_signer()
    step = succeed("owner", old, new, Handover(NOW, seq, "0" * 64, ()), ())
    return KeyRing("owner", new.public_key, (step,), NoKeyLock())


async def test_a_former_keys_bundle_counts_where_the_record_has_it_from_that_keys_time(
    tmp_path: Path,
) -> None:
    with a_house(tmp_path / "here", owner="former") as before:
        await before.rooms.store.store(RULE)
        made = await before.rooms.bundles.export_bundle()
        seq = (await before.audit.head()).seq
        await before.rooms.store.forget("channel:web")
    with a_house(tmp_path / "here", ring=rotated(seq)) as after:
        await after.rooms.bundles.import_bundle(made)
        assert await after.rooms.store.rules() == [RULE]


async def test_whoever_has_a_former_key_cannot_make_trusted_memories(tmp_path: Path) -> None:
    with a_house(tmp_path / "here", ring=rotated(7)) as house:
        await house.rooms.bundles.import_bundle(await exported(RULE, owner="former"))
        assert await house.rooms.store.rules() == []


# hostile and damaged ------------------------------------------------------------------------------
DEEP = b"[" * 200_000 + b"]" * 200_000
HOSTILE: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "cut off"),
    "no header": (item_line(PAGE), "no header"),
    "not JSON": (b"\x00\xff\xfe\n", "no header"),
    "another version": (bundle(bundle_version="jsonl-v9"), "no header"),
    "another schema": (bundle(schema_version=2), "no header"),
    "a header with more": (bundle(trusted=True), "no header"),
    "a negative count": (bundle(count=-1), "no header"),
    "a count as text": (bundle(count="0"), "no header"),
    "a header nested deeply": (b'{"a":' + DEEP[:60_000] + b"}\n", "no header|longer"),
    "another scope's": (bundle(scope_id="guest"), "memories of 'guest'"),
    "a memory of another scope": (bundle(fields(scope_id="guest")), "another scope"),
    "a key twice": (
        bundle(item_line(PAGE).replace(b'{"access_count"', b'{"content":"x","access_count"')),
        "a key twice",
    ),
    "trust twice": (
        bundle(
            item_line(PAGE).replace(b'"trust_level"', b'"trust_level":"verified","trust_level"')
        ),
        "a key twice",
    ),
    "a number of five thousand digits": (
        bundle(item_line(PAGE).replace(b'"access_count":0', b'"access_count":' + b"9" * 5000)),
        "no memory",
    ),
    "a number no column holds": (bundle(fields(access_count=2**70)), "no memory"),
    "a number that is not finite": (
        bundle(item_line(PAGE).replace(b'"access_count":0', b'"access_count":1e999')),
        "no memory",
    ),
    "NaN": (
        bundle(item_line(PAGE).replace(b'"access_count":0', b'"access_count":NaN')),
        "no memory",
    ),
    "nested deeply": (
        bundle(item_line(PAGE).replace(b'"sources":[', b'"sources":[' + DEEP + b",")),
        "no memory",
    ),
    "NUL in a name": (bundle(fields(memory_id="a\0b")), "no memory"),
    "NUL in a tag": (bundle(fields(semantic_tags=["a\0b"])), "no memory"),
    "NUL in the words": (bundle(fields(content="a\0b")), "holds a NUL"),
    "half a character": (bundle(fields(content="\ud800")), "no memory"),
    "half a character in a source": (bundle(fields(sources=["\udfff"])), "no memory"),
    "a number as words": (bundle(fields(content=7)), "no memory"),
    "words as a number": (bundle(fields(access_count="7")), "no memory"),
    "no object": (bundle(b"[1, 2]\n"), "no memory"),
    "nothing at all": (bundle(b"\n"), "no memory"),
    "a field too many": (bundle(fields(owner=True)), "no memory"),
    "a field too few": (bundle({"memory_id": "m", "content": "c"}), "no memory"),
    "an unknown kind": (bundle(fields(memory_type="order")), "no memory"),
    "an unknown trust": (bundle(fields(trust_level="absolute")), "no memory"),
    "external and trusted": (bundle(fields(trust_level="verified")), "trusted more than"),
    "a moment without a zone": (bundle(fields(created_at="2026-01-02T03:04:05")), "no memory"),
    "a moment outside the calendar": (
        bundle(fields(created_at="0001-01-01T00:00:00+14:00")),
        "no memory",
    ),
    "an endless name": (bundle(fields(memory_id="x" * 300)), "longer than 256"),
    "an id twice": (bundle(fields(), fields(content="other")), "id of a memory before it"),
    "fewer than it counts": (bundle(PAGE, count=2), "cut off"),
    "more than it counts": (bundle(PAGE, FACT, count=1), "was changed|follows"),
    "another digest": (bundle(PAGE, digest="0" * 64), "was changed"),
    "a line without its end": (bundle(PAGE)[:-1], "cut off"),
    "half a line": (bundle(PAGE)[:-30], "cut off"),
    "something behind it": (bundle(PAGE) + b"\n", "follows"),
    "a signature that is none": (
        bundle(PAGE, owner_key=a_signer().public_key) + b'{"signature":"zz"}\n',
        "no signature",
    ),
    "a signature of nobody": (
        bundle(PAGE, owner_key=a_signer().public_key)
        + canonical_bytes({"signature": "00" * 64})
        + b"\n",
        "was changed",
    ),
    "a key that is none": (
        bundle(PAGE, owner_key="00" * 32) + canonical_bytes({"signature": "00" * 64}) + b"\n",
        "was changed",
    ),
}


@pytest.mark.parametrize("mode", ["merge", "replace"])
@pytest.mark.parametrize("made", HOSTILE)
async def test_a_damaged_or_hostile_bundle_is_refused_with_nothing_changed(
    house: House, made: str, mode: str
) -> None:
    await house.rooms.store.store_many([RULE, FACT])
    before, (hostile, why) = house.everything(), HOSTILE[made]
    with pytest.raises(MemoryRefused, match=why) as refusal:
        await house.rooms.bundles.import_bundle(hostile, mode)
    assert house.everything() == before
    assert refusal.value.code == "E_MEM_BUNDLE"
    assert len(str(refusal.value)) < 400
    assert house.told("memory.import_began") == []


async def test_an_unknown_mode_is_refused(house: House) -> None:
    with pytest.raises(MemoryRefused, match="merge or replace"):
        await house.rooms.bundles.import_bundle(await exported(), "overwrite")


@given(st.binary(max_size=200))
@settings(max_examples=60, deadline=None)
async def test_no_bytes_at_all_are_more_than_refused(noise: bytes) -> None:
    with (
        TemporaryDirectory() as directory,
        a_house(Path(directory)) as house,
        pytest.raises(MemoryRefused),
    ):
        await house.rooms.bundles.import_bundle(noise)


@pytest.mark.parametrize(
    ("limit", "why"),
    [
        ({"memories": 2}, "has 3 memories, and at most 2"),
        ({"line_bytes": 500}, "line 2 is longer than 500 bytes"),
        ({"total_bytes": 900}, "larger than 900 bytes"),
    ],
)
async def test_a_bundle_that_is_too_large_is_refused(
    house: House, limit: dict[str, int], why: str
) -> None:
    made = bundle(PAGE, fields(memory_id="b", content="x" * 600), fields(memory_id="c"))
    with pytest.raises(MemoryRefused, match=why):
        await limited(house, **limit).import_bundle(made)
    assert await items_of(house) == {}


async def test_a_line_without_end_is_not_read_to_its_end(house: House) -> None:
    class Endless(io.RawIOBase):
        given = 0

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: Any) -> int:
            Endless.given += len(buffer)
            buffer[:] = b"x" * len(buffer)
            return len(buffer)

    with pytest.raises(MemoryRefused, match="longer"):
        await house.rooms.bundles.examine(io.BufferedReader(Endless()), "merge", "endless")
    assert Endless.given < 1_000_000


async def test_what_is_in_memory_does_not_grow_with_the_bundle(
    house: House, tmp_path: Path
) -> None:
    path, digest, count = tmp_path / "large.jsonl", hashlib.sha256(), 4000
    lines = tmp_path / "lines"
    with lines.open("wb") as out:
        for number in range(count):
            line = item_line(a_memory(f"m{number:06}", "word " * 1000, taint=TaintLevel.external))
            digest.update(line)
            out.write(line)
    head = bundle(count=count, digest=digest.hexdigest())
    with path.open("wb") as out:
        out.write(head + lines.read_bytes())
    with path.open("rb") as source:
        tracemalloc.start()
        try:
            with await house.rooms.bundles.examine(source, "merge", "large") as examined:
                assert examined.facts.stored == count
            most = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert path.stat().st_size > 20_000_000
    assert most < 15_000_000


# what else ----------------------------------------------------------------------------------------
async def test_standing_rules_that_have_no_room_are_refused_with_the_bundle(tmp_path: Path) -> None:
    with a_house(tmp_path / "here", rules_fit=lambda rules: len(rules) <= 1) as house:
        await house.rooms.store.store(RULE)
        other = RULE.model_copy(update={"memory_id": "other"})
        with pytest.raises(MemoryRefused, match="no room"):
            await house.rooms.bundles.import_bundle(await exported(other, FACT))
        assert await items_of(house) == {"rule": RULE}
        await house.rooms.bundles.import_bundle(await exported(other, FACT), "replace")
        assert [item.memory_id for item in await house.rooms.store.rules()] == ["other"]


async def test_examining_says_what_would_happen_and_changes_nothing(house: House) -> None:
    await house.rooms.store.store_many([RULE, PAGE, RAW])
    before = house.everything()
    newer = RULE.model_copy(update={"content": "New."})
    source = io.BytesIO(await exported(newer, PAGE, FACT))
    with await house.rooms.bundles.examine(source, "replace", "mine") as examined:
        facts = examined.facts
    assert (facts.whose, facts.memories) == ("yours", 3)
    assert (facts.stored, facts.updated, facts.kept, facts.deleted) == (1, 1, 1, 1)
    assert house.everything() == before


async def test_what_went_out_and_came_in_is_on_record(house: House) -> None:
    await house.rooms.store.store(FACT)
    await house.rooms.bundles.export_bundle()
    await house.rooms.bundles.import_bundle(await foreign(PAGE), name="a friend's")
    (out,), (came,) = house.told("memory.exported"), house.told("memory.imported")
    assert out.data["count"] == 1
    assert came.data == {
        "name": "a-friend-s",
        "mode": "merge",
        "whose": "anothers",
        "stored": 1,
        "updated": 0,
        "kept": 0,
        "deleted": 0,
    }
    assert "birthday" not in json.dumps([out.data, came.data])


@pytest.mark.parametrize(
    ("given_name", "name"),
    [("mum.jsonl", "mum.jsonl"), ("../../etc", "etc"), ("", "import"), ("a b\n c", "a-b-c")],
)
def test_a_source_is_named_plainly(given_name: str, name: str) -> None:
    assert plain_name(given_name) == name
    assert len(plain_name("x" * 1000)) == 60


async def test_a_clock_that_went_on_changes_only_the_header(tmp_path: Path) -> None:
    clock = MockClock()
    with a_house(tmp_path / "here", clock=clock) as house:
        await house.rooms.store.store_many(ALL)
        first = lines_of(await house.rooms.bundles.export_bundle())
        clock.advance(60)
        second = lines_of(await house.rooms.bundles.export_bundle())
    assert first[1:-1] == second[1:-1]
    assert first[0]["exported_at"] != second[0]["exported_at"]
