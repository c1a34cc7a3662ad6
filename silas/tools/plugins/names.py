"""What a toolset's name leads to, and whether it may be loaded at all.

Nothing here imports a toolset: what a package offers is read from its metadata.
"""

import difflib
import re
from collections.abc import Collection, Iterable
from importlib.metadata import entry_points
from typing import Final

from silas.errors import ConfigError

CODE: Final = "E_CFG_TOOLSET"

GROUP: Final = "silas.toolsets"
"""The group of entry points that packages offer toolsets under."""

BUILT_IN: Final = ("shell", "python")
"""Aliases of what every Silas has anyway, so that a profile or a worker may name it."""

_WORD = r"[A-Za-z_][A-Za-z0-9_]*"
_CLASS_PATH = re.compile(rf"{_WORD}(?:\.{_WORD})+\Z")
_SHORT_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*\Z")
_PACKAGE = re.compile(rf"(?:{_WORD}\.)+\Z")


def check_allow(entries: Iterable[str]) -> None:
    """Refuse an entry of `toolset_allow` that cannot mean one thing.

    Raises:
        ValueError: It is neither a class path, a short name, nor a package with a final dot.
    """
    for entry in entries:
        if not any(form.match(entry) for form in (_CLASS_PATH, _SHORT_NAME, _PACKAGE)):
            raise ValueError(
                f"{entry!r} is neither a class path such as mycompany.tools.Database, a package "
                "with a dot at its end such as `mycompany.`, nor the name of an entry point"
            )


def is_name(name: str) -> bool:
    """Whether a toolset can be called that: a class path, an alias or an entry point."""
    return bool((_CLASS_PATH if "." in name else _SHORT_NAME).match(name))


def permits(allow: Iterable[str], class_path: str) -> bool:
    """Whether the allowlist names a class, or a package that it is in."""
    return any(
        class_path.startswith(entry) if entry.endswith(".") else class_path == entry
        for entry in allow
    )


def class_path_of(
    name: str, allow: Collection[str], built_in: Collection[str], where: str
) -> str | None:
    """The class path behind a name that may be loaded.

    A name with a dot is a class path and nothing else, so that no package can offer itself under
    the path of another. Without a dot a built-in alias comes before every entry point.

    Returns:
        None for a built-in alias; empty for an allowed entry point that no package offers.

    Raises:
        ConfigError: It is not allowed, unknown, or offered by several packages.
    """
    if name in built_in:
        return None
    if "." in name:
        if not permits(allow, name):
            raise _not_allowed(f"{where}.{name}")
        return name
    paths = {f"{entry.module}.{entry.attr}" for entry in entry_points(group=GROUP, name=name)}
    if name not in allow and not (paths and all(permits(allow, path) for path in paths)):
        if paths:
            raise _not_allowed(f"{where}.{name}")
        known = {*built_in, *(entry.name for entry in entry_points(group=GROUP))}
        raise ConfigError(
            f"{where}.{name}: there is no toolset of that name{nearest(name, known)}.", code=CODE
        )
    if len(paths) > 1:
        raise ConfigError(
            f"{where}.{name}: several packages offer it ({', '.join(sorted(paths))}); name the "
            "class path instead.",
            code=CODE,
        )
    return next(iter(paths), "")


def nearest(word: str, known: Iterable[str]) -> str:
    """A hint at the known word that is most like one; empty where none is."""
    near = difflib.get_close_matches(word, sorted(known), n=1, cutoff=0.5)
    return f"; the nearest is {near[0]}" if near else ""


def _not_allowed(where: str) -> ConfigError:
    return ConfigError(
        f"{where}: toolset_allow does not name it, and nothing of it was loaded; its code would "
        "run inside Silas. Add it there if you trust it.",
        code="E_CFG_TOOLSET_ALLOW",
    )
