"""Conversations over the cockpit's endpoints: what an export marks and masks, what is refused."""

import json

from silas.testing import CallTool, ScriptedModel
from tests.cockpit.house import House, a_house
from tests.stream.kit import direct, soon
from tests.stream.test_forgetting import PAGE, forget, look_at_page

SECRET = "correct horse battery staple"


async def _asked(house: House, text: str) -> str:
    name = (await house.post("/conversations")).json()["id"]
    await soon(house.harness.silas.ask(text, conversation=name))
    return name


async def test_an_export_marks_what_is_external_and_masks_what_is_secret() -> None:
    proxy = ScriptedModel([CallTool("look", {}), direct("It is Mia.")])
    async with a_house(models={"proxy": proxy}) as house:
        look_at_page(house.harness)
        house.parts.secrecy.learn({"password": SECRET})
        name = await _asked(house, f"What is the cat called? My password is {SECRET}.")
        export = f"/conversations/{name}/export"
        whole = json.loads((await house.get(export, format="json"))["document"])
        text = (await house.get(export))["document"]
        await forget(house.harness, PAGE)
        after = (await house.get(export))["document"]
    marked = [(one["who"], one["external"]) for one in whole["messages"]]
    assert marked == [("owner", False), ("tool", True), ("silas", True)]
    assert "(external, from tool:look c.org)\n\n```text\nThe cat is Mia.\n```" in text
    assert SECRET not in text + json.dumps(whole)
    assert "Mia" in text
    assert "Mia" not in after


async def test_titles_and_putting_away_are_refused_in_words_and_on_record() -> None:
    async with a_house() as house:
        name = (await house.post("/conversations")).json()["id"]
        answers = {
            "none": await house.post("/conversations/talk-0/rename", title="x"),
            "empty": await house.post(f"/conversations/{name}/rename", title=" \u202e "),
            "long": await house.post(f"/conversations/{name}/rename", title="x" * 81),
            "main": await house.post("/conversations/first/archive"),
            "done": await house.post(f"/conversations/{name}/archive"),
            "back": await house.post(f"/conversations/{name}/restore"),
        }
        events = [one["event"] for one in await house.said()]
    assert {at: answer.status_code for at, answer in answers.items()} == {
        "none": 404,
        "empty": 400,
        "long": 400,
        "main": 409,
        "done": 200,
        "back": 200,
    }
    assert events.count("conversation.archived") == events.count("conversation.restored") == 1


async def test_a_search_finds_what_was_said_wherever_and_masks_it() -> None:
    proxy = ScriptedModel([direct("The capital is Rome."), direct("Noted.")])
    async with a_house(models={"proxy": proxy}) as house:
        house.parts.secrecy.learn({"password": SECRET})
        await _asked(house, "What is the capital of Italy?")
        await soon(house.harness.silas.ask(f"Italy again: {SECRET}"))
        found = (await house.get("/conversations/search", q="Italy"))["found"]
        none = await house.client.get("/conversations/search", params={"q": " ?! "})
    assert {(one["title"], one["who"], one["external"]) for one in found} == {
        ("What is the capital of Italy?", "owner", False),
        ("Main conversation", "owner", False),
    }
    assert SECRET not in json.dumps(found)
    assert (none.status_code, none.json()["code"]) == (400, "E_CTX_QUERY")
