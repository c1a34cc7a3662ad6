"""What an expression gives before and after an edit, while a watched program runs.

Two values are the same only where nobody could tell them apart: the same object, or equal values of
a type that cannot change. What cannot be told is different. The other functions stand in for parts
of an edited expression (`scripts/pure.py`), and raise where evaluating it might be noticed.

It stands beside `arrivals` in the environment of a watched tree, and needs nothing else.
"""

import datetime
import decimal
import enum
import hashlib
import pathlib
import re
import types
import uuid
from typing import Any, cast

MODULES = {
    "os": {"geteuid", "getuid", "getpid", "fspath", "fsencode", "fsdecode"},
    "posixpath": {"join", "basename", "dirname", "normpath", "isabs", "splitext"},
    "re": {"compile", "escape", "search", "match", "fullmatch", "sub", "split", "findall"},
    "hashlib": {"sha256", "sha512", "blake2b"},
    "json": {"dumps", "loads"},
    "base64": {"b64encode", "b64decode", "urlsafe_b64encode", "urlsafe_b64decode"},
    "math": {"ceil", "floor", "log", "sqrt", "isfinite", "isnan"},
    "hmac": {"compare_digest"},
    "html": {"escape", "unescape"},
    "shlex": {"quote", "split", "join"},
    "unicodedata": {"normalize", "category", "name", "combining"},
}
"""Functions of modules that only look at what they are given."""
_METHODS = """
as_posix bit_length capitalize casefold copy count date decode difference encode end endswith
expandtabs find format fullmatch get group groupdict groups hex hexdigest digest index intersection
is_absolute is_relative_to isalnum isalpha isascii isdecimal isdigit isdisjoint isidentifier islower
isnumeric isoformat isprintable isspace issubset issuperset isupper items joinpath join keys ljust
lower lstrip match partition relative_to removeprefix removesuffix replace rfind rindex rjust
rpartition rsplit rstrip search span split splitlines start startswith strip sub swapcase
symmetric_difference timestamp title to_bytes total_seconds union upper values with_name with_suffix
with_stem zfill _replace
"""
METHODS = frozenset(_METHODS.split())
"""Methods that only look, of the types below."""
_PLAIN = (
    str, bytes, bytearray, memoryview, int, float, bool, tuple, list, dict, set, frozenset, range,
    re.Pattern, re.Match, pathlib.PurePath, datetime.datetime, datetime.timedelta, datetime.date,
    uuid.UUID, decimal.Decimal, types.MappingProxyType, type(hashlib.sha256()),
)  # fmt: skip
_UNCHANGING = (
    str, bytes, int, bool, complex, range, datetime.timedelta, uuid.UUID, re.Pattern,
    pathlib.PosixPath, pathlib.PurePosixPath, datetime.timezone, decimal.Decimal,
)  # fmt: skip
_BY_WORDS = (float, datetime.datetime, datetime.date)
"""Equal values of these can still be told apart: 0.0 and -0.0, one moment in two places."""
_DEPTH = 40


class Unsure(Exception):
    """Evaluating it might be noticed."""


def steady(value: Any) -> Any:
    """What is walked over, unless that uses it up."""
    kind = cast("Any", type(value))
    if hasattr(kind, "__next__"):
        raise Unsure
    return value


def item(value: Any, index: Any) -> Any:
    """One of a container, unless looking makes it."""
    kind = cast("Any", type(value))
    if hasattr(kind, "__missing__"):
        raise Unsure
    return value[index]


def called(value: Any, name: str, *args: Any, **keywords: Any) -> Any:
    """A method or a function of a module, where it only looks."""
    module: Any = value.__name__ if type(value) is types.ModuleType else None
    if module is not None:
        looks = name in MODULES.get(module, ())
    else:
        plain = issubclass(type(value), _PLAIN) and name in METHODS
        looks = plain and (name != "_replace" or issubclass(type(value), tuple))
    if not looks:
        raise Unsure
    return getattr(value, name)(*args, **keywords)


def made(kind: Any, *args: Any, **keywords: Any) -> Any:
    """A value of a class whose values never change."""
    if kind not in (*_UNCHANGING, *_BY_WORDS) and not _frozen(kind):
        raise Unsure
    return cast("Any", kind)(*args, **keywords)


def _frozen(kind: Any) -> bool:
    """Whether it is a class whose fields nobody sets again: a tuple, a case, a frozen model."""
    config: Any = getattr(kind, "model_config", None) or {}
    params: Any = getattr(kind, "__dataclass_params__", None)
    named = isinstance(kind, type) and issubclass(cast("type[Any]", kind), (tuple, enum.Enum))
    return named or bool(config.get("frozen")) or bool(params and params.frozen)


def same(a: Any, b: Any, *, fresh: bool = False, depth: int = 0) -> bool:
    """Whether nobody can tell the two apart.

    Args:
        a: One value.
        b: The other.
        fresh: They are containers that nobody else has.
        depth: How deep inside another value they are.
    """
    kind = cast("Any", type(a))
    if a is b:
        return True
    if kind is not type(b) or depth > _DEPTH:
        return False
    if kind in _UNCHANGING:
        return bool(a == b)
    if kind in _BY_WORDS:
        return repr(a) == repr(b)
    if issubclass(kind, tuple) or (fresh and kind is list):
        pairs = zip(a, b, strict=False)
        return len(a) == len(b) and all(same(x, y, depth=depth + 1) for x, y in pairs)
    if kind is frozenset or (fresh and kind is set):
        return a == b and set(map(type, a)) == set(map(type, b)) <= set(_UNCHANGING)
    if fresh and kind is dict:
        return same([*a.items()], [*b.items()], fresh=True, depth=depth + 1)
    if kind is types.MethodType:
        return a.__self__ is b.__self__ and a.__func__ is b.__func__
    if _frozen(kind) and hasattr(a, "__dict__"):
        return same(a.__dict__, b.__dict__, fresh=True, depth=depth + 1)
    return False


def differ(old: Any, new: Any, *, truth: bool, fresh: bool) -> bool:
    """Whether somebody can tell the two apart; `truth`: only whether they are true matters."""
    try:
        return bool(new) != bool(old) if truth else not same(old, new, fresh=fresh)
    except Exception:
        return True
