"""Twenty everyday tasks of an owner, as somebody does them who has never seen the page before."""

import json
import re

from playwright.async_api import expect

from tests.agents.openai_server import openai_server
from tests.web.support.library import COPY
from tests.web.support.walker import Step, Task, Walk

LEASE = b"# Lease\n\nIt ends in May. Pay on time.\n"
_ANSWER = {
    "route": "direct",
    "reason": "it is a greeting",
    "response": {"message": "Good day."},
    "interaction_register": "status",
    "context_profile": "conversation",
}


async def _asks(walk: Walk) -> None:
    heard = walk.device.at("heard")
    before = await heard.count()
    await walk.walker.says("what is 17 % of 240")
    await expect(heard).to_have_count(before + 1)


async def _asks_again(walk: Walk) -> None:
    await walk.walker.taps(walk.device.at("ask-again").last)
    await walk.walker.says("what is 17 % of 250")
    await expect(walk.device.at("said").first.locator(".meta")).to_contain_text("replaced")


async def _a_plan_waits(walk: Walk) -> None:
    await walk.device.comes_back()
    await walk.device.says(COPY)
    await walk.device.sees_a_card("Copy the notes")


async def _approves(walk: Walk) -> None:
    results = walk.device.at("result")
    before = await results.count()
    card = await walk.walker.at_the_card()
    await walk.walker.taps(card.get_by_role("button", name="Approve and run once"))
    await walk.walker.taps(walk.device.at("confirm"))
    await walk.walker.in_the_stream()
    await expect(results).to_have_count(before + 1)
    await expect(results.last).to_contain_text("Done")


async def _says_no(walk: Walk) -> None:
    card = await walk.walker.at_the_card()
    heard = walk.device.at("heard")
    await walk.walker.taps(card.get_by_test_id("action-decline"))
    await expect(walk.device.no_card()).to_be_attached()
    await walk.walker.in_the_stream()
    await expect(heard.filter(has_text="nothing was run")).not_to_have_count(0)
    before = await heard.count()
    await walk.walker.says("not today, the notes are not finished")
    await expect(heard).to_have_count(before + 1)


async def _asks_for_changes(walk: Walk) -> None:
    card = await walk.walker.at_the_card()
    await walk.walker.taps(card.get_by_role("button", name="Ask for changes"))
    await walk.walker.types(card.get_by_test_id("changes"), "keep a copy of the old ones")
    await walk.walker.taps(card.get_by_test_id("send-changes"))
    await expect(card).to_have_attribute("data-stays", re.compile("changing|answered"))


async def _work_is_done(walk: Walk) -> None:
    results = walk.device.at("result")
    before = await results.count()
    walk.cockpit.home.result.unlink(missing_ok=True)  # what is written anew changes nothing
    await _a_plan_waits(walk)
    await walk.device.answers("Approve and run once")
    await walk.device.comes_back()
    await expect(results).to_have_count(before + 1)
    await expect(results.last.get_by_test_id("undo")).to_be_visible()


async def _sees_and_undoes(walk: Walk) -> None:
    result = walk.device.at("result").last
    await walk.walker.taps(result.get_by_text("What changed"))
    await expect(result).to_contain_text("+as it was")
    await walk.walker.taps(result.get_by_test_id("undo"))
    await expect(result).to_contain_text("Taken back")


async def _attaches(walk: Walk) -> None:
    async with walk.device.page.expect_file_chooser() as choosing:
        await walk.walker.taps(walk.device.at("attach"))
    chooser = await choosing.value
    await chooser.set_files([{"name": "lease.txt", "mimeType": "text/plain", "buffer": LEASE}])
    walk.walker.effort.taps += 1  # on the file, in the system's own dialog
    await expect(walk.device.at("attaching").locator("li")).to_contain_text(
        "38 bytes"
    )  # it is there
    await walk.walker.says("summarise this")
    await expect(walk.device.at("heard").last).to_contain_text("It ends in May.")


async def _begins_another(walk: Walk) -> None:
    await walk.walker.opens("conversations")
    await walk.walker.taps(walk.device.at("new-conversation"))
    await expect(walk.device.at("talk-title")).to_contain_text("New conversation")
    await walk.walker.says("what is 3 % of 900")
    await expect(walk.device.at("heard")).to_have_count(1)


async def _searches(walk: Walk) -> None:
    body = await walk.walker.opens("conversations")
    await walk.walker.types(body.get_by_label("Search all conversations"), "900")
    await walk.walker.presses("Enter")
    await walk.walker.taps(walk.device.at("jump").filter(has_text="You"))
    await expect(walk.device.at("said").filter(has_text="900")).to_be_in_viewport()


async def _exports(walk: Walk) -> None:
    await walk.walker.opens("conversations")
    await walk.walker.taps(walk.device.at("change").first)
    async with walk.device.page.expect_download() as saving:
        await walk.walker.taps(walk.device.at("export-markdown"))
    await (await saving.value).path()


async def _sets_a_reminder(walk: Walk) -> None:
    body = await walk.walker.opens("more", "reminders")
    field = body.get_by_label("What to remind you of, and when")
    await walk.walker.types(field, "tomorrow at nine to call the dentist")
    await walk.walker.presses("Enter")
    await walk.walker.taps(walk.device.at("reminder-yes"))
    await expect(walk.device.at("reminders").locator("> li")).to_have_count(1)


async def _cancels_it(walk: Walk) -> None:
    body = await walk.walker.opens("more", "reminders")
    await walk.walker.taps(body.get_by_role("button", name="Cancel call the dentist"))
    await walk.walker.taps(body.get_by_role("button", name="Yes, cancel it"))
    await expect(body.get_by_text("Nothing is to come.")).to_be_visible()


async def _a_goal_runs(walk: Walk) -> None:
    await walk.device.comes_back()
    await walk.device.says("every morning at seven, copy the notes")
    await walk.device.sees_a_card()
    await walk.device.answers("Approve this goal")
    await expect(walk.device.no_card()).to_be_attached()


async def _pauses(walk: Walk) -> None:
    body = await walk.walker.opens("more", "ahead")
    await expect(walk.device.at("coming").locator("> li")).to_contain_text("07:00")
    await walk.walker.taps(body.get_by_role("button", name="Pause"))
    await expect(walk.device.at("paused").locator("> li")).to_have_count(1)


async def _takes_back(walk: Walk) -> None:
    body = await walk.walker.opens("more", "ahead")
    await walk.walker.taps(body.get_by_role("button", name="Take back"))
    await walk.walker.taps(body.get_by_role("button", name="Yes, ask me again"))
    await expect(body).to_contain_text("Each piece of work asks you first.")


async def _adds_a_memory(walk: Walk) -> None:
    body = await walk.walker.opens("more", "memory")
    await walk.walker.taps(walk.device.at("memory-add"))
    await walk.walker.types(
        body.get_by_label("What should Silas remember?"), "Odile is my dentist."
    )
    await walk.walker.taps(body.get_by_role("button", name="Remember it"))
    await expect(walk.device.at("memories")).to_contain_text("Odile is my dentist.")


async def _corrects_it(walk: Walk) -> None:
    body = await walk.walker.opens("more", "memory")
    row = walk.device.at("memories").locator("li").filter(has_text="dentist")
    await walk.walker.taps(row.get_by_role("button", name="Correct"))
    await walk.walker.types(body.get_by_label("What is right"), "Ada is my dentist.")
    await walk.walker.taps(row.get_by_role("button", name="Put it in its place"))
    await expect(walk.device.at("memories")).to_contain_text("Ada is my dentist.")


async def _forgets_it(walk: Walk) -> None:
    await walk.walker.opens("more", "memory")
    row = walk.device.at("memories").locator("li").filter(has_text="dentist")
    await walk.walker.taps(row.get_by_role("button", name="Forget"))
    await walk.walker.taps(row.get_by_role("button", name="Yes, forget it"))
    await expect(row).to_have_count(0)


async def _adds_a_secret(walk: Walk) -> None:
    body = await walk.walker.opens("more", "secrets")
    await walk.walker.types(body.get_by_label("Name"), "NOTION_TOKEN")
    await walk.walker.types(body.get_by_label("Value"), "a-value-that-nobody-sees")
    await walk.walker.presses("Enter")
    await expect(walk.device.at("secrets").locator("li")).to_contain_text("NOTION_TOKEN")


async def _removes_it(walk: Walk) -> None:
    body = await walk.walker.opens("more", "secrets")
    await walk.walker.taps(body.get_by_role("button", name="Remove NOTION_TOKEN"))
    await walk.walker.taps(body.get_by_role("button", name="Yes, remove it"))
    await expect(body.get_by_text("There are no secrets.")).to_be_visible()


async def _pairs(walk: Walk) -> None:
    body = await walk.walker.opens("more", "devices")
    await walk.walker.taps(body.get_by_role("button", name="Pair another device"))
    link = await body.get_by_label("Pairing link").input_value()
    other = await walk.new_device(walk.cockpit.origin)
    await other.page.goto(link)
    walk.walker.effort.typings += 1  # the link, in the other browser
    await other.at("pair").click()
    walk.walker.effort.taps += 1
    await other.is_connected()
    other.expects_anything()  # it is revoked in the next step


async def _revokes(walk: Walk) -> None:
    body = await walk.walker.opens("more", "devices")
    other = body.locator("li[data-revoked=false]").filter(has_not_text="this one").last
    await walk.walker.taps(other.get_by_role("button", name="Remove"))
    await walk.walker.taps(body.get_by_role("button", name="Yes, remove it"))
    await expect(body.locator("li[data-revoked=false]")).to_have_count(1)


async def _opens_for_a_phone(walk: Walk) -> None:
    await walk.walker.opens("more", "devices")
    await walk.walker.taps(walk.device.at("phone-open"))
    await walk.walker.taps(walk.device.at("phone-pair"))
    await expect(walk.device.page.get_by_role("img", name="QR code of the pairing")).to_be_visible()


async def _changes_a_setting(walk: Walk) -> None:
    body = await walk.walker.opens("more", "settings")
    await walk.walker.types(body.get_by_label("Memory for one run (MB)"), "64")
    await walk.walker.presses("Enter")
    await walk.walker.taps(walk.device.at("save-changes"))
    await expect(body).to_contain_text("Counts from the next start on.")


async def _reads_the_activity(walk: Walk) -> None:
    await walk.walker.opens("activity")
    entry = walk.device.at("entry").filter(has_text="approved the plan").first
    await walk.walker.taps(entry)
    await expect(walk.device.page.locator("#activity-body")).to_contain_text("What was shown")


async def _stops_everything(walk: Walk) -> None:
    await walk.walker.taps(walk.device.at("stop"))
    await walk.walker.taps(walk.device.at("stop-now"))
    await expect(walk.device.page.locator("#stopped")).to_be_visible()


async def _lets_it_go_on(walk: Walk) -> None:
    await walk.walker.taps(walk.device.at("resume"))
    await expect(walk.device.page.locator("#stopped")).to_be_hidden()


async def _in_the_main_conversation(walk: Walk) -> None:
    await walk.device.goes_to("conversations")
    main = walk.device.at("conversation").filter(has_text="Main conversation")
    await main.get_by_test_id("open").click()
    await expect(walk.device.at("talk-title")).to_contain_text("Main conversation")


async def _changes_who_answers(walk: Walk) -> None:
    async with openai_server(["ok", json.dumps(_ANSWER)]) as server:
        body = await walk.walker.opens("more", "answering")
        await walk.walker.types(body.get_by_label("Address"), server.base_url)
        await walk.walker.types(body.get_by_label("Model", exact=True), "tiny")
        await walk.walker.presses("Enter")
        card = walk.device.at("active-card")
        await walk.walker.taps(card.get_by_role("button", name="Let it answer"))
        await walk.walker.taps(walk.device.at("confirm"))
        await walk.walker.in_the_stream()
        heard = walk.device.at("heard").filter(has_text="answers from now on")
        await expect(heard).not_to_have_count(0)


def _one(name: str, does: Step) -> Task:
    return Task(name, (does._replace(name=""),))


TASKS: tuple[Task, ...] = (
    _one("Ask a question", Step("", _asks)),
    _one("Edit a question and ask it again", Step("", _asks_again)),
    _one("Approve a plan", Step("", _approves, _a_plan_waits)),
    _one("Say no, and why", Step("", _says_no, _a_plan_waits)),
    _one("Ask for changes of a plan", Step("", _asks_for_changes, _a_plan_waits)),
    _one("See what was done, and undo it", Step("", _sees_and_undoes, _work_is_done)),
    _one("Attach a file and ask about it", Step("", _attaches)),
    _one("Begin a second conversation", Step("", _begins_another)),
    Task(
        "Find what was said",
        (Step("search all conversations", _searches), Step("save one as Markdown", _exports)),
    ),
    Task(
        "A reminder", (Step("set it", _sets_a_reminder), Step("cancel it", _cancels_it))
    ),
    _one("See what is ahead, and pause a goal", Step("", _pauses, _a_goal_runs)),
    _one("See and take back what may run without asking", Step("", _takes_back)),
    Task(
        "A memory",
        (
            Step("add it", _adds_a_memory),
            Step("correct it", _corrects_it),
            Step("forget it", _forgets_it),
        ),
    ),
    Task("A secret", (Step("add it", _adds_a_secret), Step("remove it", _removes_it))),
    Task("A second device", (Step("pair it", _pairs), Step("revoke it", _revokes))),
    _one("Open Silas for a phone", Step("", _opens_for_a_phone)),
    _one("Change a setting", Step("", _changes_a_setting)),
    _one("Read what happened", Step("", _reads_the_activity)),
    Task("Everything", (Step("stop it", _stops_everything), Step("let it go on", _lets_it_go_on))),
    _one("Change who answers", Step("", _changes_who_answers, _in_the_main_conversation)),
)  # fmt: skip
"""In the order in which they are walked: later ones meet what earlier ones left."""
