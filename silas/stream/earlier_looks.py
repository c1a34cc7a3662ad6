"""What was looked up in a turn before its planner is asked, so that it need not look again."""

from silas.agents.prompt import EarlierLook
from silas.canonical import canonical_json
from silas.context import TokenCounter
from silas.stream.state import Turn
from silas.tools.toolset import model_facing


def looks_that_fit(turn: Turn, room: int) -> tuple[EarlierLook, ...]:
    """The calls that were answered, the oldest first: each once, as its newest answer was shown.

    Args:
        turn: The turn; its labels have every answer already, from when it was first shown.
        room: Tokens that all of them may take; the oldest are left out for the newer.
    """
    newest = dict[str, EarlierLook]()
    for one in reversed(turn.shown.lookups):
        call = f"{one.tool_name} {canonical_json(one.args)}"
        if one.result.ok and call not in newest:
            newest[call] = EarlierLook(call, model_facing(one.result))
    count, fits = TokenCounter().count, list[EarlierLook]()
    for look in newest.values():
        room -= count(look.call) + count(look.block)
        if room < 0:
            break
        fits.append(look)
    return tuple(reversed(fits))
