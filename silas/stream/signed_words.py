"""Whether something to be remembered is the owner's own word: said by him, whole, under his name.

Words may stand in what he signed and still not be his: quoted, asked about, denied ("it is wrong
that ..."), or pasted in with a page. So they count only where they begin what he said, after a
greeting or a request to remember, and end where a sentence ends.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

_FILLER: Final = frozenset(
    """hi hello hey ok okay so and also then well please silas thanks thank you now today remember
    that this these note notes noted keep in mind from on for the future as of a an my our me i
    should must need want would like to know store save memorise memorize memory it is fact facts
    rule rules preference preferences fyi btw by way record information info important reminder
    following here are
    hallo servus bitte danke und auch außerdem übrigens also merk merke dir dass daß das dies
    folgendes notier notiere denk denke daran ab jetzt heute von nun wichtig""".split()  # noqa: SIM905 - a list of words is read as such
)
"""Words that introduce what is to be remembered and say nothing themselves."""

_DENIALS: Final = frozenset({"not", "never", "don't", "dont"})
"""They say nothing only before `forget`, and `forget` only after one of them."""

_UNFORGOTTEN: Final = re.compile(r"\bvergiss\s+(?:bitte\s+)?nicht\b", re.IGNORECASE)
"""The same in German, where the denial stands behind."""

_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_ENDS: Final = ".!?;"
_CLOSES: Final = "\"'”’)»"


def his_own(content: str, said: Iterable[str], known: Sequence[str] = ()) -> bool:
    """Whether the owner himself said exactly this in one of his messages.

    Args:
        content: What is to be remembered, as `plain` gives it.
        said: What he signed and these words stand in, as `plain` gives it.
        known: What of it was found to be his own already; it may stand before.
    """
    return bool(content) and any(_begins_it(content, message, known) for message in said)


def _begins_it(content: str, message: str, known: Sequence[str]) -> bool:
    at = message.find(content)
    while at >= 0:
        before, after = message[:at], message[at + len(content) :]
        for sentence in known:
            before = before.replace(sentence, " ")
        if _says_nothing(before) and _ends_sentence(content, after):
            return True
        at = message.find(content, at + 1)
    return False


def _says_nothing(before: str) -> bool:
    heard = _UNFORGOTTEN.sub(" ", before)
    words = [word.lower().replace("’", "'") for word in _WORD.findall(heard)]
    if any(one in _DENIALS and then != "forget" for one, then in pairwise([*words, ""])):
        return False
    unforgotten = {n + 1 for n, word in enumerate(words) if word in _DENIALS}
    return all(
        word in _FILLER or word.isdecimal() or word in _DENIALS or n in unforgotten
        for n, word in enumerate(words)
    )


def _ends_sentence(content: str, after: str) -> bool:
    rest = after.lstrip(_CLOSES)
    return not rest.strip() or rest[0] in _ENDS or (content[-1] in _ENDS and after[0] == " ")
