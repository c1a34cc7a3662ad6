"""The text for the user, read out of a structured answer that is still coming."""

import json
from typing import Any, NamedTuple, cast

from pydantic_core import from_json


class AnswerTextField(NamedTuple):
    """Where in an answer the text for the user stands.

    Attributes:
        path: Its key, with those of the objects around it.
        given: A key of the answer itself and the value that must have been read there before the
            first key of `path`, or nothing is read.
    """

    path: tuple[str, ...]
    given: tuple[str, str] | None = None


class PartialAnswerReader:
    """Reads one string of a JSON object as it arrives. Total: what is no JSON has no text.

    Whether an answer is valid is found out when it is whole. What this gives is, for valid JSON,
    exactly the string's value, in pieces, never half a character.
    """

    def __init__(self, spoken: AnswerTextField) -> None:
        self._spoken = spoken
        self._answer = ""
        self._told = ""
        self.over = False

    def feed(self, piece: str) -> str:
        """What of the text came with this piece."""
        if self.over:
            return ""
        self._answer += piece
        if not self._answer.startswith("{"):
            self._answer = self._answer[self._answer.find("{") :] if "{" in self._answer else ""
        if not self._answer:
            return ""
        try:
            data = from_json(self._answer, allow_partial="trailing-strings")
        except (ValueError, TypeError):  # the second for half a character in the piece itself
            self.over = True
            return ""
        return self._more(data)

    def _more(self, data: dict[str, Any]) -> str:
        *around, last = self._spoken.path
        place = _at(data, around)
        if not isinstance(place, dict) or last not in place:
            return ""
        fields = cast("dict[str, Any]", place)
        text = fields[last]
        if (
            not isinstance(text, str)
            or not text.startswith(self._told)
            or not self._condition_holds(data)
        ):
            self.over = True
            return ""
        self.over = next(reversed(fields)) != last  # it is whole where another key has begun
        more = text[len(self._told) :]
        self._told = text
        return more

    def _condition_holds(self, data: dict[str, Any]) -> bool:
        if self._spoken.given is None:
            return True
        key, value = self._spoken.given
        keys = list(data)
        first = self._spoken.path[0]
        return data.get(key) == value and keys.index(key) < keys.index(first)


def _at(data: Any, path: list[str]) -> Any:
    """What stands at a path; None where nothing does, or no object is on the way."""
    for key in path:
        data = cast("dict[str, Any]", data).get(key) if isinstance(data, dict) else None
    return data


def breaks_off(answer: str) -> bool:
    """Whether an answer ends in the middle of its JSON object, or before it began.

    Words without an object, and an object that is wrong before its end, are whole.
    """
    at = answer.find("{")
    if at < 0:
        return not answer.strip()
    try:
        json.JSONDecoder().raw_decode(answer, at)
    except json.JSONDecodeError as error:
        # the partial reader below takes any letter where a comma or the end belongs
        if error.msg.startswith("Expecting ',' delimiter") and error.pos < len(answer.rstrip()):
            return False
    except RecursionError:
        return False
    else:
        return False
    try:
        from_json(answer[at:], allow_partial="trailing-strings")
    except ValueError:
        return False
    return True
