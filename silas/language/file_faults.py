"""Why a file cannot be read, as `refusal_words` tells it: YAML and the system (spec 0.5, 8.2)."""

from typing import Final

from silas.language.catalogue import tr_later

YAML_FAULTS: Final = (
    tr_later("a tab is no indentation; use blanks"),
    tr_later("plain text must not begin with {character}; put it in quotes"),
    tr_later(
        "this line is no `key: value`; write a colon and a blank behind the key, or put text in "
        "quotes"
    ),
    tr_later("a list must not begin here; begin it on a line of its own below its key"),
    tr_later("a ? must not stand here; put text in quotes"),
    tr_later(
        "there must be no colon here; put text with a colon in quotes, and indent a key as its "
        "neighbours"
    ),
    tr_later("a line must not begin with %; put text in quotes"),
    tr_later("a name follows & and *; put text that starts with one in quotes"),
    tr_later("tags (!) are not allowed; quote text that starts with one"),
    tr_later("behind | and > stands a number from 1 to 9, or none"),
    tr_later("nothing may follow | and > on their line; begin the text on the next one"),
    tr_later(
        "in double quotes a backslash begins an escape; write two of them, or use single quotes"
    ),
    tr_later("the quote that opens here is never closed; close it"),
    tr_later("a quote holds a line that begins with --- or ...; indent that line"),
    tr_later("here is more after the end of the data; put text in quotes, or indent the line"),
    tr_later("a value is missing here; write it, or quotes for none"),
    tr_later(
        "this line is no item of the list before it; begin it with a hyphen, or indent it as its "
        "neighbours"
    ),
    tr_later(
        "this line does not fit the keys before it; indent it as its neighbours, or put the whole "
        "text in quotes"
    ),
    tr_later("the list lacks a comma or its closing bracket; add it"),
    tr_later("the mapping lacks a comma or its closing brace; add it"),
    tr_later("it is not YAML here; compare the line with those around it"),
    tr_later("it has a character that YAML does not allow; remove it"),
    tr_later("an escape in double quotes stands for no character; remove it"),
)
"""What `silas.strict_yaml` says of what its parser refuses."""

FILE_REFUSALS: Final = (
    tr_later("A file or folder cannot be used: {why}; {remedy}."),
    tr_later("{path} cannot be used: {why}; {remedy}."),
)
"""What `silas.errors` says of a file that the system refused."""

REMEDIES: Final = (
    tr_later("check the path"),
    tr_later("give the path of a file"),
    tr_later("give another name"),
    tr_later("give a shorter one"),
    tr_later("make it yours, or give another path"),
    tr_later("give a path on another one"),
    tr_later("make room and try again"),
    tr_later("check it and try again"),
    tr_later("the system refused it"),
)
"""What to do about it."""

SYSTEM_REASONS: Final = (
    tr_later("it is not UTF-8 text"),
    tr_later("it cannot be opened"),
    tr_later("there is no such file or folder"),
    tr_later("a folder is in the way"),
    tr_later("a part of its path is no folder"),
    tr_later("something is there already"),
    tr_later("its name is too long"),
    tr_later("you have no permission"),
    tr_later("its disk can only be read"),
    tr_later("the disk is full"),
    tr_later("No such file or directory"),
    tr_later("Permission denied"),
    tr_later("Connection refused"),
    tr_later("Operation not permitted"),
    tr_later("Is a directory"),
    tr_later("Not a directory"),
    tr_later("File name too long"),
    tr_later("Too many levels of symbolic links"),
    tr_later("Too many open files"),
    tr_later("Input/output error"),
    tr_later("No space left on device"),
    tr_later("Read-only file system"),
)
"""What `silas.errors.reason` says, and the system's words for the commonest of its errors; others
stay as they are.
"""
