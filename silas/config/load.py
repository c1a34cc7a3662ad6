"""Finds the configuration, reads it, and says in one sentence what is wrong with it."""

import difflib
import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from types import UnionType
from typing import Any, Union, cast, get_args, get_origin

from pydantic import BaseModel, ValidationError

from silas.agents.choice import default_models
from silas.config.firstrun import read_first_run
from silas.config.models import SilasConfig
from silas.config.place import config_file, locations
from silas.config.source import ConfigSource, Loc, read_source
from silas.errors import ConfigError, misfits, reason
from silas.language import LANGUAGES

_LANGUAGE = re.compile(r"""^[ \t]+["']?language["']?:[ \t]*["']?([a-z]{2})\b""", re.MULTILINE)

_CODES: tuple[tuple[tuple[str, ...], str], ...] = (
    (("channels", "web"), "E_CFG_WEB_AUTH"),
    (("channels", "telegram"), "E_CFG_TELEGRAM"),
    (("channels", "others"), "E_CFG_CHANNEL"),
    (("context", "profiles"), "E_CFG_CONTEXT_PROFILE"),
    (("context", "skill_metadata_budget_pct"), "E_CFG_SKILL_METADATA"),
    (("interaction",), "E_CFG_INTERACTION"),
    (("autonomy",), "E_CFG_AUTONOMY"),
    (("skills", "import"), "E_CFG_SKILL_IMPORT"),
    (("skills", "validation"), "E_CFG_SKILL_VALIDATION"),
    (("gates",), "E_CFG_GATES"),
    (("models",), "E_CFG_MODEL"),
)
"""The code of a broken rule by the section it stands in; elsewhere `E_CFG_INVALID`."""


def load_config(
    path: Path | str | None = None, environ: Mapping[str, str] = os.environ
) -> SilasConfig:
    """The configuration from file and environment, checked by every start-up rule of spec 11.

    A file that was named must exist; the default one need not. Variables such as
    `SILAS_CHANNELS__WEB__PORT` win over the file; `${NAME}` in the file is filled in from the
    environment. Roles under `models:` that are not set follow the keys in the environment.

    Raises:
        ConfigError: With one sentence, the place, and for an unknown key the nearest one.
    """
    file = config_file(path, environ)
    source = read_source(_read(file, required=path is not None), file.name, environ)
    _fill_in(source, file, environ)
    try:
        config = SilasConfig.model_validate(source.data)
    except ValidationError as error:
        raise _explain(error, source) from error
    _require_directory(config.data_dir)
    return config


def written_language(path: Path | str | None, environ: Mapping[str, str] = os.environ) -> str:
    """The language that a file names, though it may be wrong elsewhere; empty where none is."""
    if named := environ.get("SILAS_LANGUAGE", ""):
        return named if named in LANGUAGES else ""
    try:
        text = config_file(path, environ).read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
    found = _LANGUAGE.search(text)
    return found[1] if found and found[1] in LANGUAGES else ""


def _require_directory(folder: Path) -> None:
    """Refuse what can be no data directory, so that nobody takes it for an emergency stop."""
    try:
        if stat.S_ISDIR(folder.stat().st_mode):
            return
        why = "it is a file"
    except FileNotFoundError:  # `silas init` makes it
        if not folder.is_symlink():
            return
        why = "it is a link to nothing"
    except OSError as error:
        why = reason(error)
    raise ConfigError(
        f"Silas cannot use its directory {folder} ({why}); make it a directory of yours, or set "
        "SILAS_HOME to another one.",
        code="E_CFG_HOME",
    )


def _read(file: Path, *, required: bool) -> str:
    if not required and not file.exists():
        return ""
    try:
        return file.read_text("utf-8")
    except FileNotFoundError as error:
        raise ConfigError(
            f"There is no configuration file {file}; check the path.", code="E_CFG_FILE"
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"The configuration file {file} cannot be read: {reason(error)}.", code="E_CFG_FILE"
        ) from error


def _fill_in(source: ConfigSource, file: Path, environ: Mapping[str, str]) -> None:
    """What depends on this machine: where data is kept, and which models can be reached."""
    data = source.data
    given = data.get("data_dir")
    if given is None:
        data["data_dir"] = locations(environ).data_dir
    elif isinstance(given, str):
        data["data_dir"] = file.parent / Path(given).expanduser()
    beside = file.parent / "workers"
    if data.get("workers_dir") is None and beside.is_dir():
        data["workers_dir"] = beside
    roles: object = data.get("models") or {}
    if isinstance(roles, dict):
        given_roles = cast(dict[str, Any], roles)
        first = read_first_run(Path(str(data["data_dir"])).expanduser())
        stored = first is not None and first.provider == "openrouter" and first.key
        usual = dict(default_models(environ, key_stored=stored))
        chosen = {k: v for k, v in given_roles.items() if k not in usual or v is not None}
        data["models"] = usual | chosen


def _explain(error: ValidationError, source: ConfigSource) -> ConfigError:
    """The first thing that is wrong, where it stands, and what would be right.

    A key that is not known comes before one that is missing: it is probably the same one.
    """
    errors = misfits(error)
    first = next((e for e in errors if e.kind == "extra_forbidden"), errors[0])
    loc, key = first.loc, first.place
    origin = source.origin(loc)
    where = f" ({origin})" if origin else ""
    if first.kind == "extra_forbidden":
        return ConfigError(f"{_unknown_key_words(loc)}{where}.", code="E_CFG_UNKNOWN_KEY")
    if loc in source.unset:
        return ConfigError(
            f"{key} needs the environment variable {source.unset[loc]}, which is not set{where}.",
            code="E_CFG_ENV",
        )
    return ConfigError(f"{key}: {first.words}{where}.", code=_code(loc))


def _code(loc: Loc) -> str:
    return next((code for start, code in _CODES if loc[: len(start)] == start), "E_CFG_INVALID")


def _unknown_key_words(loc: Loc) -> str:
    key, parents = str(loc[-1]), loc[:-1]
    known = sorted(_names_at(SilasConfig, parents))
    inside = f" under {'.'.join(str(part) for part in parents)}" if parents else ""
    near = difflib.get_close_matches(key.lower(), known, n=1, cutoff=0.0)
    hint = f"; the nearest is {near[0]}" if near else ""
    return f"There is no key {key}{inside}{hint}"


def _names_at(kind: Any, loc: Loc) -> set[str]:
    """The keys that a model has at a location, found by walking the types of its fields."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        fields = {field.alias or name: field for name, field in kind.model_fields.items()}
        if not loc:
            return set(fields)
        field = fields.get(str(loc[0]))
        return _names_at(field.annotation, loc[1:]) if field else set()
    origin, args = get_origin(kind), get_args(kind)
    rest = loc if origin in (Union, UnionType) else loc[1:]
    names: set[str] = set()
    return names.union(*(_names_at(arg, rest) for arg in args))
