"""The owner's conversations: their titles, and which of them are put away (spec 0.5)."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from silas.clock import Clock, is_moment
from silas.context.errors import ContextError
from silas.db import Database, Tx
from silas.language import tr, tr_later
from silas.types import new_id

FIRST: Final = "first"
"""What the first conversation is called where an id is told: inside, its id is empty."""

MAIN_TITLE: Final = tr_later("Main conversation")
NEW_TITLE: Final = tr_later("New conversation")
"""The titles of a conversation that has none yet."""

LONGEST_TITLE: Final = 80
"""Characters of a title."""

_FROM_WORDS = 48  # characters of a title that is made of the first words

_COLUMNS = "id, title, named, begun_at, said_at, archived_at"
_ALL = f"SELECT {_COLUMNS} FROM conversations ORDER BY said_at DESC, id"
_ONE = f"SELECT {_COLUMNS} FROM conversations WHERE id = :id"
_BEGIN = """
INSERT INTO conversations (id, title, named, begun_at, said_at)
VALUES (:id, :title, :named, :now, :now)
"""
_SAID = """
UPDATE conversations SET said_at = :now, title = CASE WHEN title = '' THEN :title ELSE title END
WHERE id = :id
"""
_RENAME = "UPDATE conversations SET title = :title, named = 1 WHERE id = :id"
_DELETE = "DELETE FROM conversations WHERE id = :id"
_PUT_AWAY = "UPDATE conversations SET archived_at = :at WHERE id = :id"


class ConversationRow(NamedTuple):
    """One conversation of the owner's.

    Attributes:
        id: Names it; empty for the first one.
        title: Made of its first words, or given by its owner.
        named: Whether its owner gave the title.
        begun_at, said_at: When it was begun, and when its owner last said something in it.
        archived_at: When it was put away; None where it is not.
        deleted: Whether it is gone: so it is told of once, and listed nowhere.
    """

    id: str
    title: str
    named: bool
    begun_at: str
    said_at: str
    archived_at: str | None
    deleted: bool = False

    @property
    def called(self) -> str:
        """Its title, or what stands for one."""
        return self.title or tr(NEW_TITLE if self.id else MAIN_TITLE)

    @property
    def told_id(self) -> str:
        """Its id as it is told: never empty."""
        return self.id or FIRST


Changed = Callable[[ConversationRow], None]
"""Told of a conversation that was begun, renamed, put away or brought back, or got its title."""


class ConversationStore:
    """The conversations of the owner; statements are tiny and run inline (decision A23)."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock
        self._followers = list[Changed]()

    def follow(self, changed: Changed) -> None:
        """Tell of every change that is made here from now on."""
        self._followers.append(changed)

    def all(self) -> list[ConversationRow]:
        """Every one, those that are put away, too: the one that was last said something in first,
        and the first conversation among them.
        """
        with self._db.read() as tx:
            found = [_row(row) for row in tx.run(_ALL)]
        return found if any(not one.id for one in found) else [*found, _UNTOUCHED]

    def one(self, conversation: str) -> ConversationRow:
        """The conversation of this id, or called `first`.

        Raises:
            ContextError: There is none.
        """
        name = "" if conversation == FIRST else conversation
        with self._db.read() as tx:
            found = _look(tx, name)
        if found is None:
            raise ContextError(
                f"There is no conversation {conversation!r}; `silas conversations list` shows all.",
                code="E_CTX_CONVERSATION",
            )
        return found

    def find(self, named: str) -> ConversationRow:
        """The conversation of this id or of this title, whatever its case.

        Raises:
            ContextError: There is none, or several have this title.
        """
        wanted = " ".join(named.split()).casefold()
        fits = [one for one in self.all() if one.called.casefold() == wanted]
        if named == FIRST or not fits or any(one.id == named for one in self.all()):
            return self.one(named or "(no name)")
        if len(fits) > 1:
            names = ", ".join(one.told_id for one in fits)
            raise ContextError(
                f"{len(fits)} conversations are called {named!r}: name one by its id ({names}).",
                code="E_CTX_CONVERSATION",
            )
        return fits[0]

    def open(self, conversation: str) -> ConversationRow:
        """A conversation in which something may be said.

        Raises:
            ContextError: There is none of this id, or it is put away.
        """
        found = self.one(conversation or FIRST)
        if found.archived_at is not None:
            raise ContextError(
                f"The conversation “{found.called}” was archived; bring it back first, or "
                "begin a new one.",
                code="E_CTX_ARCHIVED",
            )
        return found

    def begin(self, title: str = "") -> ConversationRow:
        """A new conversation; without a title, one that nothing was said in yet is used again.

        Raises:
            ContextError: The title is too long.
        """
        named = bool(title.strip())
        told = checked_title(title) if named else ""
        now = self._clock.now().isoformat()
        with self._db.write() as tx:
            rows = [_row(row) for row in tx.run(_ALL)]
            empty = (one for one in rows if one.id and not one.title and not one.archived_at)
            unused = None if named else next(empty, None)
            name = new_id("talk") if unused is None else unused.id
            if unused is None:
                tx.run(_BEGIN, id=name, title=told, named=int(named), now=now)
        return self._notify_followers(name)

    def note_words(self, conversation: str, text: str) -> None:
        """The owner said something; his first words are the title, until he gives another."""
        title = title_of(text) if conversation else ""
        now = self._clock.now().isoformat()
        with self._db.write() as tx:
            before = _look(tx, conversation)
            if not conversation and before is _UNTOUCHED:
                tx.run(_BEGIN, id="", title="", named=0, now=now)
            tx.run(_SAID, id=conversation, title=title, now=now)
        if before is not None:
            self._notify_followers(conversation)

    def rename(self, conversation: str, title: str) -> ConversationRow:
        """Give it another title.

        Raises:
            ContextError: There is none of this id, or the title is empty or too long.
        """
        found, told = self.one(conversation), checked_title(title)
        with self._db.write() as tx:
            self._ensure_row(tx, found)
            tx.run(_RENAME, id=found.id, title=told)
        return self._notify_followers(found.id)

    def archive(self, conversation: str) -> ConversationRow:
        """Put it away; nothing of it is deleted. One that is put away stays so.

        Raises:
            ContextError: There is none of this id, or it is the first one.
        """
        found = self.one(conversation)
        if not found.id:
            raise ContextError(
                tr_later(
                    "The main conversation cannot be archived: reminders, goals and what other "
                    "channels bring are told there."
                ),
                code="E_CTX_KEPT",
            )
        if found.archived_at is None:
            self._put_away(found, self._clock.now())
        return self._notify_followers(found.id)

    def restore(self, conversation: str) -> ConversationRow:
        """Bring it back. Raises `ContextError` where there is none of this id."""
        found = self.one(conversation)
        self._put_away(found, None)
        return self._notify_followers(found.id)

    def delete(self, conversation: str) -> None:
        """Take it from the list; what was said in it goes by `ConversationDeletion`.

        Raises:
            ContextError: There is none of this id.
        """
        found = self.one(conversation)
        with self._db.write() as tx:
            tx.run(_DELETE, id=found.id)
        for follower in self._followers:
            follower(found._replace(deleted=True))

    def _put_away(self, found: ConversationRow, at: datetime | None) -> None:
        with self._db.write() as tx:
            tx.run(_PUT_AWAY, id=found.id, at=None if at is None else at.isoformat())

    def _ensure_row(self, tx: Tx, found: ConversationRow) -> None:
        """The first conversation has a row from when something of it is kept."""
        if found is _UNTOUCHED:
            tx.run(_BEGIN, id="", title="", named=0, now=self._clock.now().isoformat())

    def _notify_followers(self, conversation: str) -> ConversationRow:
        found = self.one(conversation or FIRST)
        for follower in self._followers:
            follower(found)
        return found


_UNTOUCHED = ConversationRow("", "", False, "", "", None)
"""The first conversation where nothing of it is kept yet."""


def title_of(text: str) -> str:
    """A title made of somebody's words: the beginning of the first line, to the end of a word."""
    lines = (" ".join(_printable(line).split()) for line in text.splitlines())
    first = next((line for line in lines if line), "")
    if len(first) <= _FROM_WORDS:
        return first
    cut = first[:_FROM_WORDS]
    whole = cut.rpartition(" ")[0] if first[_FROM_WORDS] != " " else cut
    return f"{(whole if len(whole) > _FROM_WORDS // 2 else cut).rstrip(' ,;:.-')}…"


def checked_title(title: str) -> str:
    """A title as it is kept. Raises `ContextError` for one that is empty or too long."""
    told = " ".join(_printable(title).split())
    if not told:
        raise ContextError(tr_later("A title needs at least one character."), code="E_CTX_TITLE")
    if len(told) > LONGEST_TITLE:
        raise ContextError(
            f"That title has {len(told)} characters; a title has room for {LONGEST_TITLE}.",
            code="E_CTX_TITLE",
        )
    return told


def _printable(text: str) -> str:
    """Without characters that nobody sees; they could make two titles look the same."""
    return "".join(one if one.isprintable() else " " for one in text)


def _look(tx: Tx, name: str) -> ConversationRow | None:
    row = tx.run(_ONE, id=name).fetchone()
    if row is not None:
        return _row(row)
    return None if name else _UNTOUCHED


def _row(row: Sequence[Any]) -> ConversationRow:
    """A row as it is told; a title that was damaged is none, and hides no conversation."""
    name, title, named, begun, said, archived = row
    told = title if isinstance(title, str) else ""
    at = archived if is_moment(archived) else None  # damaged: it is shown, so that nothing is lost
    return ConversationRow(str(name), told, bool(named), str(begun), str(said), at)
