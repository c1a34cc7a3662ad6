"""What a message says about the files attached to it, as a sentence that names them.

The page names them in lines at the end: `summarise this` and `Attached: @attached/notes.txt` are
`summarise @attached/notes.txt`. Words that mean none of them stay as they are, without the lines.
"""

import re
from collections.abc import Sequence
from typing import Final

from silas.context.attachments import ATTACHED, PLACE

_MOST: Final = 20  # files of one message
_NOUN: Final = r"(?:file|files|document|documents|text|texts|attachment|attachments|datei|dateien)"
_MEANT: Final = re.compile(
    rf"(?<![\w@/.])(?:(?:this|that|these|those|the|my|die|diese|den|das|attached)\s+)+{_NOUN}(?![\w/.])"
    r"|(?<![\w@/.])(?:this|that|it|these|those|them|das|dies|diese|es)(?![\w/.])",
    re.IGNORECASE,
)


def as_named(text: str) -> str:
    """A message with the names of its attached files in place of the words that mean them.

    A message without words asks for what is in its files. One that attaches nothing is as it was.
    """
    lines = text.rstrip().split("\n")
    names = list[str]()
    while lines and len(names) < _MOST and lines[-1].startswith(ATTACHED):
        names.insert(0, PLACE + "/" + lines.pop().removeprefix(ATTACHED).strip())
    if not names:
        return text
    said = "\n".join(lines).strip()
    return _name_attached(said, names) if said else f"summarise {names[0]}"


def _name_attached(said: str, names: Sequence[str]) -> str:
    bare = next((name for name in names if _says(said, name)), "")
    if bare:
        short = bare.removeprefix(f"{PLACE}/")
        return re.sub(rf"(?<![\w@/.-]){re.escape(short)}(?![\w/-])", bare, said)
    return _MEANT.sub(" and ".join(names), said, count=1)


def _says(said: str, name: str) -> bool:
    short = re.escape(name.removeprefix(f"{PLACE}/"))
    return re.search(rf"(?<![\w@/.-]){short}(?![\w/-])", said) is not None
