"""Attached files over the cockpit's endpoints: what is signed, what is kept, what is on record."""

import hashlib
import json
from typing import Any

import httpx

from silas.canonical import canonical_json
from silas.channels.web.wire import Proof, command_bytes
from tests.cockpit.house import House, a_house, proof

TEXT = b"It ends in May.\n"
DIGEST = hashlib.sha256(TEXT).hexdigest()
BYTES = {"Content-Type": "application/octet-stream"}


async def announced(house: House, name: str = "lease.txt", **changed: Any) -> httpx.Response:
    file = {"name": name, "size": len(TEXT), "digest": DIGEST, **changed}
    return await house.signed("/conversations/first/attachments", **file)


async def sent(house: House, name: str, content: bytes = TEXT) -> httpx.Response:
    return await house.client.post(f"/attachments/{name}/content", content=content, headers=BYTES)


async def test_a_file_is_announced_with_a_proof_kept_on_record_exported_and_removed() -> None:
    async with a_house() as house:
        row = (await announced(house, "../My lease.txt")).json()
        kept = await sent(house, row["id"])
        again = await sent(house, row["id"])
        listed = (await house.get("/conversations/first/attachments"))["attachments"]
        got = await house.client.get(f"/attachments/{row['id']}/content")
        text = (await house.get("/conversations/first/export"))["document"]
        whole = (await house.get("/conversations/first/export", format="json"))["document"]
        removed = await house.signed(f"/attachments/{row['id']}/remove")
        after = (await house.get("/conversations/first/attachments"))["attachments"]
        gone = await house.client.get(f"/attachments/{row['id']}/content")
        place = house.harness.config.data_dir / "attachments" / "first"
        left = list(place.iterdir())
        record = await house.said()
        entries = (await house.get("/activity"))["entries"]
    told_words = [one["words"] for one in entries if one["event"] == "attachment.added"]
    assert told_words == ["My-lease.txt (16 bytes) was attached to “Main conversation” on a phone."]
    file = {"conversation": "first", "digest": DIGEST, "name": "../My lease.txt", "size": 16}
    signed = Proof.model_validate(proof())
    assert house.door.proved == [
        command_bytes("attach", canonical_json(file), signed),
        command_bytes("remove_attachment", row["id"], signed),
    ]
    assert (kept.status_code, again.status_code, removed.status_code) == (200, 404, 200)
    assert [(one["name"], one["digest"], one["removed"]) for one in listed] == [
        ("My-lease.txt", DIGEST, False)
    ]
    assert got.content == TEXT
    assert got.headers["content-type"] == "application/octet-stream"
    assert got.headers["content-disposition"] == "attachment"
    assert f"- My-lease.txt, 16 bytes, SHA-256 {DIGEST}" in text
    (told,) = json.loads(whole)["attachments"]
    assert (told["name"], told["size"], told["digest"]) == ("My-lease.txt", 16, DIGEST)
    assert (after[0]["removed"], gone.status_code, left) == (True, 404, [])
    events = {one["event"]: one["data"] for one in record if "attachment" in one["event"]}
    assert events["attachment.added"]["digest"] == events["attachment.removed"]["digest"] == DIGEST
    assert events["attachment.added"]["device"] == "a phone"


async def test_what_is_not_the_owners_or_does_not_fit_is_refused_in_words() -> None:
    async with a_house() as house:
        talk = (await house.post("/conversations")).json()["id"]
        await house.post(f"/conversations/{talk}/archive")
        file = {"name": "a.txt", "size": len(TEXT), "digest": DIGEST}
        row = (await announced(house)).json()
        answers = {
            "no proof": await house.post("/conversations/first/attachments", **file),
            "another's proof": await house.post(
                "/conversations/first/attachments", **file, proof=proof(b"another's")
            ),
            "3 GB": await announced(house, size=3_000_000_000),
            "no digest": await announced(house, digest="x"),
            "archived": await house.signed(f"/conversations/{talk}/attachments", **file),
            "nowhere": await house.signed("/conversations/talk-0/attachments", **file),
            "another file": await sent(house, row["id"], TEXT.swapcase()),
            "not announced": await sent(house, "file-0"),
        }
        listed = (await house.get("/conversations/first/attachments"))["attachments"]
    assert {at: one.status_code for at, one in answers.items()} == {
        "no proof": 400,
        "another's proof": 403,
        "3 GB": 413,
        "no digest": 400,
        "archived": 409,
        "nowhere": 404,
        "another file": 400,
        "not announced": 404,
    }
    assert answers["3 GB"].json()["message"].startswith("lease.txt has 3,000 MB, and a file of")
    assert listed == []


async def test_what_cannot_be_recorded_is_neither_attached_nor_removed() -> None:
    broken = (
        "CREATE TRIGGER broken BEFORE INSERT ON audit_log WHEN NEW.body LIKE '%\"attachment.%'"
        " BEGIN SELECT RAISE(ABORT, 'no'); END"
    )

    async def refused(house: House, name: str, how: str) -> int:
        with house.harness.db.write() as tx:
            tx.driver.execute(broken)
        if how == "content":
            status = (await sent(house, name)).status_code
        else:
            status = (await house.signed(f"/attachments/{name}/remove")).status_code
        with house.harness.db.write() as tx:
            tx.driver.execute("DROP TRIGGER broken")
        return status

    async with a_house() as house:
        place = house.harness.config.data_dir / "attachments" / "first"
        row = (await announced(house)).json()
        assert await refused(house, row["id"], "content") >= 400
        assert not list(place.iterdir())
        assert (await house.get("/conversations/first/attachments"))["attachments"] == []
        assert (await sent(house, row["id"])).status_code == 200
        assert await refused(house, row["id"], "remove") >= 400
        assert [one.read_bytes() for one in place.iterdir()] == [TEXT]
        (kept,) = (await house.get("/conversations/first/attachments"))["attachments"]
        assert not kept["removed"]


async def test_a_conversation_whose_deletion_cannot_be_recorded_keeps_its_files() -> None:
    broken = (
        "CREATE TRIGGER broken BEFORE INSERT ON audit_log"
        " WHEN NEW.body LIKE '%\"conversation.deleted%'"
        " BEGIN SELECT RAISE(ABORT, 'no'); END"
    )
    async with a_house() as house:
        talk = (await house.post("/conversations")).json()["id"]
        file = {"name": "lease.txt", "size": len(TEXT), "digest": DIGEST}
        row = (await house.signed(f"/conversations/{talk}/attachments", **file)).json()
        assert (await sent(house, row["id"])).status_code == 200
        place = house.harness.config.data_dir / "attachments" / talk
        with house.harness.db.write() as tx:
            tx.driver.execute(broken)
        refused = await house.signed(f"/conversations/{talk}/delete")
        assert refused.status_code >= 400
        assert [one.read_bytes() for one in place.iterdir()] == [TEXT]
        (kept,) = (await house.get(f"/conversations/{talk}/attachments"))["attachments"]
        assert not kept["removed"]
        with house.harness.db.write() as tx:
            tx.driver.execute("DROP TRIGGER broken")
        assert (await house.signed(f"/conversations/{talk}/delete")).status_code == 200
        assert not list(place.iterdir())
