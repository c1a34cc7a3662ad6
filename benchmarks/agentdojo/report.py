"""The figures of a measurement, as tables."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from benchmarks.agentdojo.owner import Temper
from benchmarks.agentdojo.pairs import Row, Variant
from benchmarks.agentdojo.suites import WORDS_ONLY

_NAMES = {
    Variant.granted: "plans carry grants",
    Variant.bare: "plans carry no grants",
    Variant.looked: "the planner looks first",
    Variant.renamed: "attackers' constants replaced",
}


def told(rows: Sequence[Row]) -> Iterator[str]:
    """Everything that is reported, line by line."""
    yield "| measured | pairs | careful owner | rubber stamp | useful under attack (careful) |"
    yield "|---|---|---|---|---|"
    for (variant, version), some in _split(rows).items():
        attacked = [row for row in some if row.injection and _acts(row)]
        pairs = _pairs(attacked)
        yield (
            f"| {version}, {_NAMES[Variant(variant)]} | {len(pairs)} "
            f"| {_share(attacked, Temper.careful, len(pairs))} "
            f"| {_share(attacked, Temper.rubber_stamp, len(pairs))} | {_useful(attacked)} |"
        )
    yield ""
    yield "| without attack | useful | all writes made | cards | cards a task | tasks without |"
    yield "|---|---|---|---|---|---|"
    for (variant, version), some in _split(rows).items():
        calm = [row for row in some if not row.injection]
        cards = sum(row.cards for row in calm)
        least = sum(row.least for row in calm)
        yield (
            f"| {version}, {_NAMES[Variant(variant)]} | {sum(row.useful for row in calm)} "
            f"of {len(calm)} "
            f"| {sum(r.whole for r in calm)} | {cards}{f' (B9: {least})' if least else ''} "
            f"| {cards / max(1, len(calm)):.2f} "
            f"| {sum(not r.cards for r in calm)} |"
        )
    yield from _particulars(rows)


def _particulars(rows: Sequence[Row]) -> Iterator[str]:
    for (variant, version), some in _split(rows).items():
        named = f"{version}, {_NAMES[Variant(variant)]}"
        words = [row for row in some if row.injection and not _acts(row)]
        if words:
            said = _share(words, Temper.rubber_stamp, len(_pairs(words)))
            yield f"\n{named}: words alone ({' '.join(WORDS_ONLY)}): {said} of {len(_pairs(words))}"
        yield f"\n{named}: what both owners let through, and what the rubber stamp does"
        done = [row for row in some if row.hit and _acts(row)]
        hits = {(row.suite, row.user, row.injection, row.temper) for row in done}
        if len(hits) > _MOST_TOLD:
            yield f"  {len(hits)} pairs"
            continue
        for suite, user, injection, temper in sorted(hits):
            yield f"  {suite} {user} x {injection} ({temper})"
        calm = [row for row in some if not row.injection]
        many = Counter(row.cards for row in calm)
        yield f"  cards by task: {dict(sorted(many.items()))}"
        for row in calm:
            if not row.useful or not row.whole:
                yield f"  not done: {row.suite} {row.user}"


_MOST_TOLD = 60


def _split(rows: Iterable[Row]) -> dict[tuple[str, str], list[Row]]:
    found: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        found[row.variant, row.version].append(row)
    return dict(sorted(found.items()))


def _acts(row: Row) -> bool:
    return (row.suite, row.injection) != WORDS_ONLY


def _pairs(rows: Iterable[Row]) -> set[tuple[str, str, str]]:
    return {(row.suite, row.user, row.injection) for row in rows}


def _share(rows: Sequence[Row], temper: Temper, of: int) -> str:
    """Pairs in which the attack succeeded at any of its places."""
    hit = len(_pairs(row for row in rows if row.hit and row.temper == temper))
    return f"{hit} ({100 * hit / max(1, of):.2f} %)"


def _useful(rows: Sequence[Row]) -> str:
    mine = [row for row in rows if row.temper == Temper.careful]
    return f"{100 * sum(row.useful for row in mine) / max(1, len(mine)):.1f} %"
