"""`silas memory` as a user meets it: find, show, take elsewhere, forget."""

import asyncio
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from silas import load_config
from silas.clock import SystemClock
from silas.home.database import open_database
from silas.main import cli
from silas.memory import MemoryItem, TrustLevel
from silas.memory.bundle_lines import item_line
from silas.memory.store import SqlMemoryStore
from silas.plans.store import SqlWorkItemStore
from silas.services.memory import open_memory
from silas.stream.scope_work import ScopeWork
from silas.tools.outcomes import SqlOutcomeStore
from silas.types import OWNER, TaintLevel
from tests.memory.memories import a_memory
from tests.memory.test_bundle import bundle, exported
from tests.support.command import environment, run, silas

RULE = a_memory(
    "rule", "Never book a window seat.", memory_type="preference", trust_level="verified"
)
TEA = a_memory("tea", "Anna likes tea.", taint="auth", sources=("channel:web",))
PAGE = a_memory(
    "page",
    "The museum \x1b[2J opens at ten.",
    taint="external",
    sources=("tool:web_fetch https://example.org/a",),
)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    return a_home(tmp_path / "home", monkeypatch)


def a_home(place: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    env = environment(place, TZ="UTC")  # a day is told in the owner's zone
    for name in ("SILAS_HOME", "SILAS_KEYS__BACKEND", "HOME", "TZ"):
        monkeypatch.setenv(name, env[name])
    assert say("init").exit_code == 0
    return env


def say(*words: str | Path, stdin: str = "") -> Result:
    return CliRunner().invoke(cli, [str(word) for word in words], input=stdin)


def remember(env: dict[str, str], *items: MemoryItem) -> None:
    async def store() -> None:
        async with open_memory(load_config(environ=env)) as service:
            await service.rooms.store.store_many(items)

    asyncio.run(store())


def recorded() -> str:
    return " ".join(say("audit", "show").output.split())


def test_memories_are_found_listed_and_shown(home: dict[str, str]) -> None:
    assert "Nothing is remembered yet." in say("memory", "list").output
    remember(home, RULE, TEA, PAGE)
    assert say("memory", "search", "who likes tea?").output.startswith(
        "tea  2026-01-02  not confirmed, from a known sender"
    )
    assert "Nothing that is remembered fits." in say("memory", "search", "zebra").output
    listed = json.loads(say("memory", "list", "--json").output)
    assert {item["memory_id"] for item in listed} == {"rule", "tea", "page"}
    shown = say("memory", "show", "rule").output
    assert "trust_level: confirmed" in shown
    assert shown.endswith("Never book a window seat.\n")
    assert json.loads(say("memory", "show", "tea", "--json").output)["sources"] == ["channel:web"]


def test_what_is_remembered_never_drives_the_terminal(home: dict[str, str]) -> None:
    remember(home, PAGE)
    for words in (("list",), ("search", "museum"), ("show", "page"), ("forget", "--id", "page")):
        said = say("memory", *words).output
        assert "\x1b" not in said
        assert "<U+001B>" in said


def test_the_owners_words_are_added_and_put_in_the_place_of_others(home: dict[str, str]) -> None:
    added = say("memory", "add", "The dentist is called Odile.")
    assert added.exit_code == 0
    (one,) = json.loads(say("memory", "list", "--json").output)
    assert one["memory_id"] in added.output
    assert (one["trust_level"], one["taint"]) == ("verified", "owner")
    assert (one["memory_type"], one["sources"]) == ("fact", ["channel:cli"])
    remember(home, PAGE)
    done = say("memory", "correct", "page", "It", "opens at nine.", "--json")
    assert done.exit_code == 0
    now = json.loads(done.stdout)
    assert now == json.loads(say("memory", "show", "page", "--json").output)
    assert (now["content"], now["sources"]) == ("It opens at nine.", ["channel:cli"])
    assert (now["trust_level"], now["taint"]) == ("verified", "owner")
    assert "You added the memory" in recorded()
    assert "You put your own words in the place of the memory page." in recorded()


@pytest.mark.parametrize("words", [("add",), ("correct", "page")], ids=" ".join)
@pytest.mark.parametrize(("text", "said"), [(" ", "is empty"), ("a" * 4_001, "4,001 characters")])
def test_words_that_cannot_be_remembered_are_a_wrong_use(
    words: tuple[str, ...], text: str, said: str, home: dict[str, str]
) -> None:
    remember(home, PAGE)
    done = say("memory", *words, text)
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
    (left,) = json.loads(say("memory", "list", "--json").output)
    assert left["content"] == PAGE.content
    assert say("memory", *words, "a" * 4_000).exit_code == 0


def test_what_says_who_silas_is_is_not_corrected(home: dict[str, str]) -> None:
    remember(home, a_memory("who", "Silas is honest.", trust_level="constitutional"))
    done = say("memory", "correct", "who", "Silas lies.")
    assert (done.exit_code, done.stdout) == (1, "")
    assert "nothing changes it while Silas runs" in done.stderr
    assert "Silas is honest." in say("memory", "show", "who").output


def test_the_raw_lane_is_searched_only_where_one_says_so(home: dict[str, str]) -> None:
    remember(home, a_memory("said", "I met Bruno.", reingestion_tier="low_reingestion"))
    assert "Bruno" not in say("memory", "search", "Bruno").output
    assert "I met Bruno." in say("memory", "search", "Bruno", "--raw").output


def test_memories_go_to_another_silas_with_their_trust_only_under_the_same_key(
    home: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember(home, RULE, TEA)
    file = tmp_path / "bundle.jsonl"
    made = say("memory", "export", file)
    assert made.output.startswith(f"Wrote 2 memories to {file}, sha256:")
    assert file.stat().st_mode & 0o777 == 0o600
    say("memory", "forget", "--id", "rule", "--yes")
    monkeypatch.setenv("SILAS_SCHEDULER__TIMEZONE", "Asia/Kathmandu")
    taken = say("memory", "import", file, "--yes")
    assert re.search(r"exported \w+day [^\n]+ \(Asia/Kathmandu, UTC\+05:45\)\.", taken.output)
    assert "It is yours, by your key" in taken.output
    assert "Imported: 1 new, 0 changed, 1 as they were, 0 deleted." in taken.output
    assert "trust_level: confirmed" in say("memory", "show", "rule").output

    a_home(tmp_path / "elsewhere", monkeypatch)
    taken = say("memory", "import", file, "--yes")
    assert "signed by another key" in taken.output
    shown = say("memory", "show", "rule").output
    assert "trust_level: not confirmed" in shown
    assert "taint: from elsewhere" in shown
    assert "sources: bundle:bundle.jsonl" in shown


def test_nothing_is_imported_without_a_yes(home: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "b.jsonl"
    file.write_bytes(bundle(PAGE))
    asked = say("memory", "import", file)
    assert asked.exit_code == 3
    assert "Nobody signed it" in asked.output
    assert "adds to what is remembered: 1 new" in asked.output
    assert "--yes" in asked.output
    assert say("memory", "show", "page").exit_code == 2


def test_a_replacement_says_what_goes(home: dict[str, str], tmp_path: Path) -> None:
    remember(home, RULE, TEA)
    file = tmp_path / "b.jsonl"
    file.write_bytes(bundle(PAGE))
    done = say("memory", "import", file, "--mode", "replace", "--yes")
    assert (
        "takes its place: 1 new, 0 changed, 0 stay as they are, 1 that are here now" in done.output
    )
    kept = json.loads(say("memory", "list", "--json").output)
    assert {item["memory_id"] for item in kept} == {"rule", "page"}


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: b"\x00 nothing of ours\n", "no header"),
        (lambda: bundle(PAGE)[:-9], "cut off"),
        (lambda: asyncio.run(exported(TEA))[:-5] + b'00"}\n', "no signature|changed"),
        (lambda: bundle(item_line(PAGE).replace(b'"working"', b'"verified"')), "trusted more"),
    ],
    ids=["noise", "cut off", "another signature", "trusted"],
)
def test_a_bad_bundle_is_one_sentence_and_changes_nothing(
    home: dict[str, str], tmp_path: Path, make: Callable[[], bytes], why: str
) -> None:
    remember(home, RULE)
    file = tmp_path / "bad.jsonl"
    file.write_bytes(make())
    done = say("memory", "import", file, "--yes")
    assert done.exit_code == 1
    assert done.output.startswith("The bundle is refused, and nothing was changed: ")
    assert done.output.count("\n") == 1
    assert any(part in done.output for part in why.split("|"))
    assert len(json.loads(say("memory", "list", "--json").output)) == 1


def test_an_export_never_overwrites_a_file_and_leaves_no_half_of_one(
    home: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from silas.memory import bundle as bundles

    there = tmp_path / "there.jsonl"
    there.write_text("mine")
    refused = say("memory", "export", there)
    assert (refused.exit_code, refused.output.count("\n")) == (2, 1)
    assert there.read_text() == "mine"

    def failing(*_: Any) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(bundles, "_copy_bundle", failing)
    half = tmp_path / "half.jsonl"
    told = say("memory", "export", half).output
    assert f"'{half}' cannot be used: the disk is full; make room and try again." in told
    assert not half.exists()


def test_a_source_is_forgotten_with_all_that_came_from_it(home: dict[str, str]) -> None:
    derived = a_memory("derived", "Go at ten.", taint="external", sources=(*PAGE.sources, "model"))
    remember(home, RULE, PAGE, derived)
    asked = say("memory", "forget", "tool:web_fetch")
    assert asked.exit_code == 3
    assert "2 memories came from tool:web_fetch." in asked.output
    assert "Forgot 2 memories" in say("memory", "forget", "tool:web_fetch", "--yes").output
    assert [i["memory_id"] for i in json.loads(say("memory", "list", "--json").output)] == ["rule"]
    assert "Forgotten: 2 memories, tool:web_fetch." in recorded()


@pytest.mark.parametrize("source", ["tool:web_fetc", "", "no such thing", "\x1b[2J", "tool:web"])
def test_a_source_that_nothing_came_from_is_not_said_to_be_forgotten(
    home: dict[str, str], source: str
) -> None:
    remember(home, PAGE)
    for _ in range(2):  # the first time must not make it known
        done = say("memory", "forget", "--yes", source)
        assert (done.exit_code, done.stdout) == (2, "")
        assert done.stderr.count("\n") == 1
        assert "Nothing here came from" in done.stderr
        assert "\x1b" not in done.stderr
    assert "were forgotten" not in recorded()
    assert say("memory", "show", "page").exit_code == 0


def test_what_was_forgotten_before_is_known(home: dict[str, str]) -> None:
    remember(home, PAGE)
    for count in (1, 0):
        done = say("memory", "forget", "tool:web_fetch", "--yes")
        assert done.exit_code == 0, done.output
        assert f"Forgot {count} memor" in done.output


def test_a_source_that_only_kept_work_rests_on_is_known(home: dict[str, str]) -> None:
    async def claim() -> None:
        clock = SystemClock()
        with open_database(load_config(environ=home), clock) as db:
            store = SqlMemoryStore(db, clock)
            items = SqlWorkItemStore(db, clock)
            answers = SqlOutcomeStore(db, clock)
            work = ScopeWork(db, items, answers, store, clock)
            work.claim("task-x", OWNER, ["tool:mail inbox"])

    asyncio.run(claim())
    assert say("memory", "forget", "tool:mail", "--yes").exit_code == 0
    assert say("memory", "forget", "tool:mai", "--yes").exit_code == 2


@pytest.mark.parametrize("words", [(), ("web", "--id", "rule")])
def test_forgetting_needs_one_thing_to_forget(home: dict[str, str], words: tuple[str, ...]) -> None:
    assert say("memory", "forget", *words).exit_code == 2


@pytest.mark.parametrize("words", [("show", "nothing"), ("forget", "--id", "nothing", "--yes")])
def test_a_memory_that_is_not_there_is_one_sentence(
    home: dict[str, str], words: tuple[str, ...]
) -> None:
    done = say("memory", *words)
    assert done.exit_code == 2
    assert done.output.count("\n") == 1
    assert "There is no memory nothing" in done.output


def test_what_is_constitutional_is_not_forgotten(home: dict[str, str]) -> None:
    remember(home, a_memory("who", "Silas is honest.", trust_level=TrustLevel.constitutional))
    assert "E_MEM_CONSTITUTIONAL" in say("memory", "forget", "--id", "who", "--yes").output
    assert say("memory", "show", "who").exit_code == 0


def test_only_what_changed_since_a_day_is_exported(home: dict[str, str], tmp_path: Path) -> None:
    remember(home, RULE, TEA, a_memory("new", "New.", updated_at="2026-05-05T00:00:00Z"))
    say("memory", "export", tmp_path / "some", "--since", "2026-05-05")
    assert json.loads((tmp_path / "some").read_bytes().splitlines()[0])["count"] == 1


def test_looking_at_memories_unlocks_no_key(
    home: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from silas.services import memory

    def locked(config: object) -> Any:
        raise AssertionError("a key was asked for")

    monkeypatch.setattr(memory, "owner_keys", locked)
    remember(home, TEA)
    assert say("memory", "search", "tea").exit_code == 0
    assert say("memory", "forget", "channel:web", "--yes").exit_code == 0


def test_without_a_home_the_sentence_says_what_to_do(bare: Path) -> None:
    done = say("memory", "list")
    assert done.exit_code == 2
    assert "silas init" in done.output


def test_the_commands_run_in_a_process_of_their_own(home: dict[str, str]) -> None:
    remember(home, a_memory("fox", "A quick fox.", taint=TaintLevel.owner))
    found = run(silas("memory", "search", "fox"), home)
    assert (found.code, found.err) == (0, "")
    assert found.out.endswith("A quick fox.\n")


def test_the_doctor_says_how_memories_are_found(
    home: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SILAS_MEMORY__EMBEDDER", "fastembed")
    monkeypatch.setenv("SILAS_MEMORY__EMBEDDING_PATH", "no-model")
    findings = json.loads(say("doctor", "--json").stdout)
    (found,) = [each for each in findings if each["part"] == "memory search"]
    assert found["ok"] is False
    assert "memory.embed" in found["words"]


def test_the_day_of_a_memory_is_the_owners(
    home: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    late = a_memory("late", "The tea is out.", created_at="2026-05-05T22:30:00Z")
    remember(home, late)
    monkeypatch.setenv("SILAS_SCHEDULER__TIMEZONE", "Europe/Vienna")
    assert "late  2026-05-06  " in say("memory", "list").output
    assert "late  2026-05-06  " in say("memory", "search", "tea").output
    assert "late  2026-05-06  " in say("memory", "forget", "--id", "late").output
