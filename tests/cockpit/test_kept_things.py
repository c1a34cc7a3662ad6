"""Reminders, memories, secrets and devices' names, changed from the cockpit as by a command."""

import pytest

from silas.canonical import canonical_json
from silas.errors import Stopped
from silas.reminders.words import when_line
from tests.cockpit.house import House, a_house, proof

SAID = "remind me in 20 minutes to call the dentist"


async def _made(house: House, said: str = SAID) -> str:
    shown = (await house.post("/reminders/read", text=said)).json()
    done = await house.signed(f"/reminders/shown/{shown['id']}")
    assert done.status_code == 200, done.text
    return (await house.get("/reminders"))["reminders"][-1]["id"]


async def _events(house: House) -> list[str]:
    return [one["event"] for one in await house.said()]


def _changed() -> None:
    raise Stopped("The record was changed outside Silas.", code="E_STOPPED_RECORD")


async def test_a_reminder_is_shown_to_the_minute_and_counts_only_with_a_signature() -> None:
    async with a_house() as house:
        shown = (await house.post("/reminders/read", text=SAID)).json()
        assert (await house.get("/reminders"))["reminders"] == []
        bare = await house.post(f"/reminders/shown/{shown['id']}")
        forged = await house.post(f"/reminders/shown/{shown['id']}", proof=proof(b"another's"))
        done = await house.signed(f"/reminders/shown/{shown['id']}")
        again = await house.signed(f"/reminders/shown/{shown['id']}")
        (row,) = (await house.get("/reminders"))["reminders"]
        (kept,) = house.parts.reminders().waiting()
    assert (shown["title"], shown["text"]) == ("Remind you: call the dentist", "call the dentist")
    assert (bare.status_code, forged.status_code, again.status_code) == (400, 403, 404)
    assert done.json()["words"] == f"Silas will remind you: call the dentist, {when_line(kept)}."
    assert (row["text"], row["again"]) == ("call the dentist", "")
    assert row["words"] in shown["words"]
    assert kept.source == "channel:web"


async def test_a_reminder_is_moved_and_cancelled_and_what_is_over_says_so() -> None:
    async with a_house() as house:
        name = await _made(house)
        shown = (await house.post(f"/reminders/{name}/read", text="tomorrow at nine")).json()
        moved = await house.signed(f"/reminders/shown/{shown['id']}")
        (row,) = (await house.get("/reminders"))["reminders"]
        gone = await house.signed(f"/reminders/{name}/cancel")
        late = await house.signed(f"/reminders/{name}/cancel")
        left = (await house.get("/reminders"))["reminders"]
        events = await _events(house)
    assert shown["title"] == "Move a reminder: call the dentist"
    assert moved.json()["words"].startswith("Moved: call the dentist, ")
    assert ", 09:00 (" in row["words"]
    assert gone.json()["words"] == "Cancelled: call the dentist."
    assert (late.status_code, left) == (404, [])
    assert {"reminder.made", "reminder.moved", "reminder.cancelled"} <= set(events)


@pytest.mark.parametrize(
    ("said", "code"),
    [("call the dentist", "E_REMINDER_TIME"), ("yesterday at nine to call", "E_REMINDER_PAST")],
)
async def test_a_sentence_without_a_time_to_come_is_refused(said: str, code: str) -> None:
    async with a_house() as house:
        refused = await house.post("/reminders/read", text=said)
    assert (refused.status_code, refused.json()["code"]) == (400, code), refused.text
    assert "time to come" in refused.json()["message"] or "“tomorrow" in refused.json()["message"]


async def test_the_oldest_of_what_was_shown_is_not_kept_for_ever() -> None:
    async with a_house() as house:
        first = (await house.post("/reminders/read", text=SAID)).json()
        for _ in range(100):
            await house.post("/reminders/read", text=SAID)
        late = await house.signed(f"/reminders/shown/{first['id']}")
    assert (late.status_code, late.json()["code"]) == (404, "E_REMINDER_UNKNOWN")


async def test_the_owners_words_are_remembered_corrected_and_forgotten() -> None:
    async with a_house() as house:
        added = await house.signed("/memory", text="The dentist is called Odile.")
        (one,) = (await house.get("/memory"))["memories"]
        changed = await house.signed(f"/memory/{one['id']}", text="The dentist is called Ada.")
        (now,) = (await house.get("/memory"))["memories"]
        gone = await house.signed(f"/memory/{one['id']}/forget")
        left = (await house.get("/memory"))["memories"]
        late = await house.signed(f"/memory/{one['id']}/forget")
        events = await _events(house)
        asked = list(house.door.proved)
    assert [added.status_code, changed.status_code, gone.status_code] == [200, 200, 200]
    assert (one["trust"], one["taint"], one["fixed"]) == ("verified", "owner", False)
    assert one["trust_words"].startswith("You said or confirmed it")
    assert (now["id"], now["text"]) == (one["id"], "The dentist is called Ada.")
    assert (left, late.status_code) == ([], 404)
    assert {"memory.added", "memory.corrected", "memory.forgotten"} <= set(events)
    subject = canonical_json({"id": one["id"], "text": "The dentist is called Ada."})
    assert canonical_json(subject).encode() in asked[1]


async def test_nothing_of_memory_changes_without_a_signature() -> None:
    async with a_house() as house:
        await house.signed("/memory", text="The dentist is called Odile.")
        (one,) = (await house.get("/memory"))["memories"]
        forged = proof(b"another's")
        refused = [
            await house.post("/memory", text="x", proof=forged),
            await house.post(f"/memory/{one['id']}", text="x", proof=forged),
            await house.post(f"/memory/{one['id']}/forget", proof=forged),
        ]
        (after,) = (await house.get("/memory"))["memories"]
    assert [each.status_code for each in refused] == [403, 403, 403]
    assert after == one


async def test_a_changed_record_lets_nothing_new_in(monkeypatch: pytest.MonkeyPatch) -> None:
    async with a_house() as house:
        await house.signed("/memory", text="The dentist is called Odile.")
        (one,) = (await house.get("/memory"))["memories"]
        shown = (await house.post("/reminders/read", text=SAID)).json()
        monkeypatch.setattr(house.parts.audit, "require_whole", _changed)
        refused = [
            await house.signed("/memory", text="Another."),
            await house.signed(f"/memory/{one['id']}", text="Another."),
            await house.signed(f"/reminders/shown/{shown['id']}"),
        ]
        assert [each.json()["code"] for each in refused] == ["E_STOPPED_RECORD"] * 3
        assert [each.status_code for each in refused] == [409] * 3
        monkeypatch.undo()
        assert (await house.get("/memory"))["memories"] == [one]
        again = await house.signed(f"/reminders/shown/{shown['id']}")
    assert again.status_code == 200


async def test_secrets_are_listed_by_name_and_removed_by_a_signature() -> None:
    async with a_house() as house:
        vault = house.harness.secrets
        kept = vault.add("NOTION_TOKEN", "a-value-that-nobody-sees", house.harness.clock.now())
        listed = await house.client.get("/secrets")
        forged = await house.post(f"/secrets/{kept.ref_id}/remove", proof=proof(b"another's"))
        assert [one.ref_id for one in vault.facts()] == [kept.ref_id]
        gone = await house.signed(f"/secrets/{kept.ref_id}/remove")
        late = await house.signed(f"/secrets/{kept.ref_id}/remove")
        events = await _events(house)
        assert vault.facts() == ()
    assert [one["name"] for one in listed.json()["secrets"]] == ["NOTION_TOKEN"]
    assert "a-value" not in listed.text
    assert (forged.status_code, gone.status_code) == (403, 200)
    assert (late.status_code, late.json()["code"]) == (404, "E_CFG_SECRET_UNKNOWN")
    assert "secret.removed" in events


async def test_a_device_is_called_otherwise_by_a_signature_about_both() -> None:
    async with a_house() as house:
        done = await house.signed("/devices/device-2/name", name="my phone")
        unknown = await house.signed("/devices/device-9/name", name="my phone")
        forged = await house.post("/devices/device-1/name", name="x", proof=proof(b"another's"))
        renamed, asked = house.door.renamed, house.door.proved[0]
    assert done.json()["words"] == "It is called my phone."
    assert (unknown.status_code, forged.status_code) == (404, 403)
    assert renamed == {"device-2": "my phone"}
    subject = canonical_json({"id": "device-2", "name": "my phone"})
    assert canonical_json(subject).encode() in asked
