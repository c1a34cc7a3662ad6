"""Where the content of one run came from, and which arguments are proved to be whose (B9).

Two questions are kept apart. *Taint*: how far may what a model says now be trusted? Never further
than the least trusted text that entered the run before, whatever the words. *Proof*: does exactly
this argument stand, word for word, in what the owner said or the approved plan fixes? Proof is by
content and with care: numbers, dates, short and plain words stand everywhere and prove nothing;
they count only where the plan fixes them for this very tool and argument.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, cast

from silas.canonical import canonical_json
from silas.tools.phrases import collapse_spaces, is_distinctive, passages, stands_in
from silas.tools.repeated_words import Repeats, Value
from silas.types import Origin, OriginKind, TaintLevel, join_taint

Literals = Mapping[tuple[str, str], frozenset[str]]
"""What the approved plan fixes: tool and argument path to the canonical JSON of values."""

Labelled = Callable[[], Iterable[tuple[str, Origin]]]
"""Texts, each with where it came from; called once."""

_MODEL: Final = Origin(kind=OriginKind.model, taint=TaintLevel.external)
_TRUSTED: Final = frozenset({OriginKind.owner, OriginKind.plan})
_PROSE: Final = 3  # spaces from which on a text is prose, and not a name or a date
_KEPT: Final = 2_000_000
"""Characters of a run's untrusted text that are searched for the source of an argument. What comes
later is still in the taint; only which part of it an argument repeats is not told."""


class ArgumentPart(NamedTuple):
    """A stretch of an argument and where the same words were read."""

    text: str
    origin: Origin


class ArgumentLeaf(NamedTuple):
    """One value of a call's arguments.

    Attributes:
        path: `body`, `filter.name`, `recipients[]` for each item of a list.
        text: The value in words.
        proved: It is the owner's or the approved plan's, word for word.
    """

    path: str
    text: str
    proved: bool


class Derivation(NamedTuple):
    """What the arguments of one call rest on.

    Attributes:
        leaves: Every value, in the order of the arguments.
        taint: The least trusted text that an unproved value may rest on; `owner` where all are
            proved.
    """

    leaves: tuple[ArgumentLeaf, ...]
    taint: TaintLevel

    @property
    def unproved_leaves(self) -> tuple[ArgumentLeaf, ...]:
        """The values that are not proved to be the owner's or the plan's."""
        return tuple(leaf for leaf in self.leaves if not leaf.proved)


class Provenance:
    """The labels of one run: grows with every text that enters it, and never forgets its taint.

    Args:
        literals: What the approved plan fixes, bound to tool and argument.
    """

    def __init__(self, literals: Literals) -> None:
        self._literals = literals
        self._unread: list[Labelled] = []
        self._read_trusted: list[tuple[str, Origin]] = []
        self._read_others: list[tuple[str, Origin]] = []
        self._room = _KEPT
        self._taint = TaintLevel.owner

    @property
    def taint(self) -> TaintLevel:
        """The join of everything that entered so far; `owner` while nothing did."""
        return self._taint

    def add_text(self, text: str, origin: Origin) -> None:
        """A text that the model of this run is shown from here on."""
        self.in_view(origin.taint, lambda: ((text, origin),))

    def in_view(self, taint: TaintLevel, texts: "Labelled") -> None:
        """Several texts that the model of this run is shown from here on.

        Args:
            taint: The least trusted of them; counts at once.
            texts: What they are, each with its label; read when an argument is looked at.
        """
        self._taint = join_taint((self._taint, taint))
        self._unread.append(texts)

    def settle(self) -> None:
        """Read what is in view now, so that what joins the view later is not taken for read."""
        self._read()

    def says_owner(self, text: str) -> Iterator[str]:
        """The owner's signed messages that hold these words, the newest first."""
        words = collapse_spaces(text)
        for said, origin in reversed(self._trusted):
            if origin.kind is OriginKind.owner and stands_in(words, said):
                yield said

    @property
    def _trusted(self) -> list[tuple[str, Origin]]:
        self._read()
        return self._read_trusted

    @property
    def _others(self) -> list[tuple[str, Origin]]:
        self._read()
        return self._read_others

    def _read(self) -> None:
        # most turns call no tool with arguments of their own, and then nothing is read at all
        unread, self._unread = self._unread, []
        for text, origin in (labelled for texts in unread for labelled in texts()):
            if origin.taint is TaintLevel.owner and origin.kind in _TRUSTED:
                self._read_trusted.append((collapse_spaces(text), origin))
                continue
            kept = collapse_spaces(text[: self._room])
            self._room -= len(kept)
            self._read_others.append((kept, origin))

    def derive(self, tool_name: str, args: Mapping[str, Any]) -> Derivation:
        """What the arguments of a call rest on; total for any JSON."""
        leaves = tuple(
            leaf for name, value in args.items() for leaf in self._leaves(tool_name, name, value)
        )
        proved = all(leaf.proved for leaf in leaves)
        return Derivation(leaves, TaintLevel.owner if proved else self._taint)

    def parts(self, text: str) -> tuple[ArgumentPart, ...]:
        """What of a value was read where; as a whole the model's own words if nothing was."""
        found = tuple(ArgumentPart(words, origin) for words, origin in passages(text, self._others))
        return found or (ArgumentPart(text, _MODEL),)

    def repeats(
        self, values: Sequence[Value], seen: Iterable[str] = ()
    ) -> list[tuple[ArgumentPart, ...]]:
        """What of each text repeats words that were read and that the owner did not say.

        Args:
            values: The texts.
            seen: A model's words that the owner answered; where nobody else said them, they are
                not told again.
        """
        own = [said for said, origin in self._trusted if origin.kind is OriginKind.owner]
        outside = [one for one in self._others if one[1].taint is TaintLevel.external]
        # of words that a model repeated before, the place that it had them from is told
        read = [one for one in outside if one[1].kind is not OriginKind.model]
        again = [one for one in outside if one[1].kind is OriginKind.model]
        found = Repeats(values, read, own, again, seen)
        return [tuple(ArgumentPart(*one) for one in found.of(value)) for value in values]

    def comes_from(self, tool_name: str, path: str, value: object, source: str) -> bool:
        """Whether a value really comes from a source, as a plan's slot names it.

        Args:
            tool_name: The tool that is called.
            path: The argument, as `ArgumentLeaf.path` has it.
            value: What it was given.
            source: `owner`, `plan`, `tool NAME` or `any`.
        """
        leaves = tuple(self._leaves(tool_name, path, value))
        if source == "any":
            return True
        if source in (OriginKind.owner, OriginKind.plan):
            kind = OriginKind(source)
            return all(self._says(leaf.text, kind) for leaf in leaves)
        name = source.removeprefix("tool ")
        return name != source and all(self._result_holds(leaf.text, name) for leaf in leaves)

    def _says(self, text: str, kind: OriginKind) -> bool:
        return any(
            stands_in(collapse_spaces(text), said)
            for said, origin in self._trusted
            if origin.kind is kind
        )

    def _result_holds(self, text: str, tool: str) -> bool:
        """Whether a result of this tool holds the value; numbers and short words count here.

        Prose may be put in other words, so of prose no more is asked than that the tool answered:
        it is not proved by that, and the owner sees it before it goes anywhere.
        """
        answers = [said for said, origin in (*self._others, *self._trusted) if origin.tool == tool]
        value = collapse_spaces(text)
        prose = value.count(" ") >= _PROSE
        return bool(answers) if prose else any(stands_in(value, said) for said in answers)

    def _leaves(self, tool_name: str, path: str, value: object) -> Iterator[ArgumentLeaf]:
        fixed = self._literals.get((tool_name, path), frozenset())
        if value in (None, "", [], {}):
            return  # nothing is carried
        if _is_fixed(value, fixed):
            yield ArgumentLeaf(path, _words(value), proved=True)
        elif isinstance(value, dict):
            for name, member in cast(dict[str, object], value).items():
                yield self._name(tool_name, path, name)
                yield from self._leaves(tool_name, f"{path}.{name}", member)
        elif isinstance(value, list):
            for item in cast(list[object], value):
                yield from self._leaves(tool_name, f"{path}[]", item)
        elif isinstance(value, str):
            yield self._leaf(path, value)
        else:  # a number or a truth value says nothing about where it came from
            yield ArgumentLeaf(path, _words(value), proved=False)

    def _name(self, tool_name: str, path: str, name: str) -> ArgumentLeaf:
        """The name of a field is text, too; the plan fixes those of a mapping with open parts."""
        if canonical_json(name) in self._literals.get((tool_name, f"{path}{{}}"), ()):
            return ArgumentLeaf(f"{path}.{name}", name, proved=True)
        return self._leaf(f"{path}.{name}", name)

    def _leaf(self, path: str, text: str) -> ArgumentLeaf:
        said = collapse_spaces(text)
        stands = any(stands_in(said, trusted) for trusted, _ in self._trusted)
        return ArgumentLeaf(path, text, proved=stands and is_distinctive(said))


def _is_fixed(value: object, fixed: frozenset[str]) -> bool:
    """Whether the plan fixes this value; a whole number is the same with a point after it."""
    if canonical_json(value) in fixed:
        return True
    if isinstance(value, float) and value.is_integer():
        return canonical_json(int(value)) in fixed
    return type(value) is int and canonical_json(float(value)) in fixed


def _words(value: object) -> str:
    return value if isinstance(value, str) else canonical_json(value)
