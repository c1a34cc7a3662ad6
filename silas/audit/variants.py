"""Events whose sentence depends on what happened, where one with yes or no in it is not speech."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from silas.audit.fact_words import failed_checks
from silas.audit.singular import one_file
from silas.language import tr_later


def variant(event: str, data: Mapping[str, Any]) -> str | None:
    """The sentence of an entry with these facts; None where its event has one for all."""
    choose = _BY_EVENT.get(event)
    return choose(data) if choose else one_file(event, data)


def unsaid_words(data: Mapping[str, Any]) -> str:
    """What is said behind a refusal that stands for others, too; nothing where it stands alone."""
    unsaid = data.get("unsaid")
    if type(unsaid) is not int or unsaid < 1:
        return ""
    return _ONE_MORE if unsaid == 1 else _MORE


_ONE_MORE: Final = tr_later(" One more refusal before it was only counted.")
_MORE: Final = tr_later(" {unsaid} more refusals before it were only counted.")


def _verification(data: Mapping[str, Any]) -> str | None:
    if data.get("all_passed") is True:
        return tr_later("All checks of {work_item_id} passed.")
    if failed_checks(data):
        return tr_later("Checks of {work_item_id} failed: {failed}.")
    return tr_later("Not all checks of {work_item_id} passed.") if "all_passed" in data else None


def _goal_paused(data: Mapping[str, Any]) -> str | None:
    return tr_later("You paused the goal {work_item_id}.") if data.get("by_owner") is True else None


def _answered_elsewhere(data: Mapping[str, Any]) -> str:
    if data.get("approved") is True:
        return tr_later("You approved {work_item_id} elsewhere, so its question here was closed.")
    return tr_later("You answered {work_item_id} elsewhere, so its question here was closed.")


def _settlement(data: Mapping[str, Any]) -> str:
    if data.get("happened") is True:
        return tr_later("You said that the call of {tool} for {work_item_id} took effect.")
    return tr_later("You said that the call of {tool} for {work_item_id} had no effect.")


def _choice(data: Mapping[str, Any]) -> str | None:
    if data.get("own_words") and not data.get("chosen"):
        return tr_later("{work_item_id} asked you to choose; you answered in your own words.")
    if data.get("chosen") == 0:
        return tr_later("{work_item_id} asked you to choose; you chose nothing.")
    return None


def _look(data: Mapping[str, Any]) -> str | None:
    return {
        "yes": tr_later("You let a model look at your files."),
        "never": tr_later("You let no model look at your files."),
        "no answer": tr_later(
            "You were asked whether a model may look at your files, and did not answer."
        ),
    }.get(str(data.get("answer")))


def _changes(data: Mapping[str, Any]) -> str:
    return {
        "apply": tr_later("You said yes to the changes of {work_item_id}."),
        "drop": tr_later("You said no to the changes of {work_item_id}."),
    }.get(str(data.get("answer")), tr_later("The changes of {work_item_id} still wait for you."))


def _pairing(data: Mapping[str, Any]) -> str | None:
    if data.get("level") == "owner":
        return tr_later("The device {device} was paired and can say yes for you.")
    return None


def _route(data: Mapping[str, Any]) -> str | None:
    return {
        "direct": tr_later("Silas answered a request at once, without a plan."),
        "planner": tr_later("Silas gave a request to its planner."),
    }.get(str(data.get("route")))


def _project_state(data: Mapping[str, Any]) -> str | None:
    return None if data.get("done") else tr_later("The project {work_item_id} is under way.")


def _phone_way(data: Mapping[str, Any]) -> str | None:
    return {
        "authority": tr_later(
            "The cockpit was opened for phones at {origin}, with a certificate that this machine "
            "made; its fingerprint: {fingerprint}."
        ),
        "certificate": tr_later(
            "The cockpit was opened for phones at {origin}, with your certificate; its "
            "fingerprint: {fingerprint}."
        ),
        "tailscale": tr_later("The cockpit was opened for phones at {origin}, by Tailscale."),
    }.get(str(data.get("way")))


_STARTS: Final = {
    "cli": tr_later("Silas started in the terminal."),
    "web": tr_later("Silas started in the browser."),
    "mcp": tr_later("Silas started for another program (MCP)."),
}


def _start(data: Mapping[str, Any]) -> str | None:
    return _STARTS.get(str(data.get("channel")))


_BY_EVENT: Final[Mapping[str, Callable[[Mapping[str, Any]], str | None]]] = {
    "verification_finished": _verification,
    "goal.paused": _goal_paused,
    "plan_answered_elsewhere": _answered_elsewhere,
    "tool_call.settled": _settlement,
    "owner_asked": _choice,
    "workspace_look_asked": _look,
    "changes_answered": _changes,
    "device.paired": _pairing,
    "turn_routed": _route,
    "project.begun": _project_state,
    "phone.opened": _phone_way,
    "stream_started": _start,
}
