"""The question whether to install a skill: every file of it, and what importing changed."""

from collections.abc import Mapping, Sequence

from silas.cards import Action, Detail
from silas.cards.models import DecisionAnswer, DecisionCard
from silas.language import tr, tr_later, tr_many
from silas.plans import show_lines
from silas.plans.characters import show, show_exactly
from silas.skills.approved import Installation
from silas.skills.folder import SKILL_MD, SkillFile
from silas.types import Risk

_LINES = 400  # of one file on a card; nobody reads more there, and the path is given

_WHY = tr_later(
    "Whoever works on a plan that names it is told what it says. The fixed rules "
    "find carelessness and no intent: read it."
)


def skill_card(shown: Installation, further: Sequence[Detail], *, why: str = _WHY) -> DecisionCard:
    """Ask for the owner's yes to exactly these files; silence installs nothing."""
    no, yes = DecisionAnswer(), DecisionAnswer(selected_value="install", approved=True)
    files = tr_many(len(shown.files), "{count} file", "{count} files")
    told = (
        tr("name: {name}", name=shown.name),
        tr("for: {description}", description=shown.description),
        tr("from: {source}", source=shown.source),
    )
    return DecisionCard(
        intent=tr(
            "Install the skill {shown} with {files}, as they are now",
            shown=show(shown.name),
            files=files,
        ),
        risk=Risk.high,
        rationale=tr(why),
        details=(
            Detail(heading=tr("Skill"), lines=_shown_lines(told)),
            *(
                [Detail(heading=tr("Importing"), lines=_shown_lines(shown.changes))]
                if shown.changes
                else []
            ),
            Detail(heading=tr("Files, by their SHA-256"), lines=_digests(shown.files)),
            *further,
            Detail(heading=tr("Hash"), lines=(f"sha256:{shown.digest}",)),
        ),
        actions=(
            Action(label=tr("Install these {files}", files=files), value=yes, role="recommended"),
            Action(label=tr("Install nothing"), value=no, role="decline"),
        ),
        safe=no,
    )


def what_changed(before: Mapping[str, str], now: Mapping[str, str]) -> tuple[Detail, ...]:
    """How a skill differs from what was approved under its name; nothing where there was none."""
    if not before:
        return ()
    told = [f"NEW {path}" for path in sorted(now.keys() - before.keys())]
    told += [f"GONE {path}" for path in sorted(before.keys() - now.keys())]
    both = sorted(now.keys() & before.keys())
    told += [f"CHANGED {path}" for path in both if now[path] != before[path]]
    lines = _shown_lines(told) or (tr("nothing differs"),)
    return (Detail(heading=tr("Against what you approved before"), lines=lines),)


def texts_of(files: Sequence[SkillFile]) -> tuple[Detail, ...]:
    """What stands in the files, `SKILL.md` first; each line of it behind `| `."""
    ordered = sorted(files, key=lambda file: (file.path != SKILL_MD, file.path))
    return tuple(
        Detail(heading=tr("File {file}", file=show_exactly(file.path)), lines=_text(file))
        for file in ordered
    )


def _text(file: SkillFile) -> tuple[str, ...]:
    try:
        lines = file.raw.decode("utf-8").split("\n")
    except UnicodeDecodeError:
        return (tr("no text; {file} bytes", file=len(file.raw)),)
    # prose in its own language, everything else to the character
    shows = show if file.path.endswith(".md") else show_exactly
    told = [f"| {part}" for line in lines[:_LINES] for part in show_lines(line, shows)]
    if len(lines) > _LINES:
        told.append(tr("... and {lines} lines more", lines=len(lines) - _LINES))
    return tuple(told)


def _digests(files: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(f"{show_exactly(path)}  {files[path]}" for path in sorted(files))


def _shown_lines(lines: Sequence[str]) -> tuple[str, ...]:
    return tuple(part for line in lines for part in show_lines(line))
