"""Signing the newest entry of the record from the page, which tells its witnesses."""

from silas.audit.witness import read_head
from tests.cockpit.house import a_house, proof

PATH = "/record/witness"


async def test_the_newest_entry_is_signed_on_the_signed_word_of_a_device_alone() -> None:
    async with a_house() as house:
        refused = await house.post(PATH)
        assert refused.status_code == 400
        wrong = await house.client.post(PATH, json={"proof": proof(b"another signature")})
        assert wrong.status_code == 403
        answer = await house.signed(PATH)
        assert answer.status_code == 200
        assert b"witness" in house.door.proved[-1]
        assert read_head(answer.json()["line"], "the page") is not None
        assert "Keep this line where this machine cannot write" in answer.json()["words"]
