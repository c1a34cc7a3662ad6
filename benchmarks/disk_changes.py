"""Changes of what an approved plan names on the disk, each with the way back."""

import shutil
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from random import Random

Change = Callable[[Path, Random, ExitStack], None]
"""Changes something below a directory, and leaves on the stack what takes it back."""


def _flipped(place: Path, draw: Random, back: ExitStack) -> None:
    script = place / "run.sh"
    content = script.read_bytes()
    back.callback(script.write_bytes, content)
    at = draw.randrange(len(content))
    other = bytes([content[at] ^ draw.randrange(1, 256)])
    script.write_bytes(content[:at] + other + content[at + 1 :])


def _longer(place: Path, draw: Random, back: ExitStack) -> None:
    script = place / "run.sh"
    back.callback(script.write_bytes, script.read_bytes())
    with script.open("ab") as file:
        file.write(draw.randbytes(draw.randrange(1, 20)))


def _link(name: str) -> Change:
    def change(place: Path, draw: Random, back: ExitStack) -> None:
        del draw
        path = place / name if name else place
        path.symlink_to(_aside(path, back))
        back.callback(path.unlink)

    return change


def _another(name: str) -> Change:
    def change(place: Path, draw: Random, back: ExitStack) -> None:
        del draw
        path = place / name
        shutil.copytree(_aside(path, back), path)
        back.callback(shutil.rmtree, path)

    return change


def _gone(name: str) -> Change:
    def change(place: Path, draw: Random, back: ExitStack) -> None:
        del draw
        _aside(place / name, back)

    return change


def _aside(path: Path, back: ExitStack) -> Path:
    aside = path.rename(path.with_name(path.name + ".aside"))
    back.callback(aside.rename, path)
    return aside


_NAMES = ("project", "lib", "run.sh", "")

CHANGES: tuple[tuple[str, Change], ...] = (
    ("a byte of the script", _flipped),
    ("bytes behind the script", _longer),
    *((f"a link for {name or 'the directory above'}", _link(name)) for name in _NAMES),
    *((f"another {name}", _another(name)) for name in ("project", "lib")),
    *((f"no {name}", _gone(name)) for name in ("project", "lib", "run.sh")),
)
