"""Writing one MCP server into the configuration file, or out of it; the rest stays as it is."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from silas.config.edit import last_of
from silas.config.edit_values import UnfitText, put_in
from silas.config.file_edit import CODE, FileEdit, line_end, meaning_of, read_text, replace_file
from silas.config.load import load_config
from silas.config.models import SilasConfig
from silas.config.place import ConfigPlace
from silas.config.source import compose_yaml
from silas.errors import ConfigError
from silas.language import tr
from silas.strict_yaml import YamlNode
from silas.tools.mcp.settings import MCPEntry

_SECTIONS = ("mcpServers", "mcp")


@dataclass(frozen=True)
class ServersEdit(FileEdit):
    """The file with one server more, or one less.

    Attributes:
        name: The server.
        lines: What stands in the file afterwards, where it is new; empty where the server goes
            away.
    """

    name: str
    lines: tuple[str, ...]


def plan_added(
    place: ConfigPlace, name: str, server: Mapping[str, object], handling: Mapping[str, object]
) -> ServersEdit:
    """Work out the file with this server in it.

    Raises:
        ConfigError: It cannot be read, or is written so that nothing can be put in.
    """
    wanted = {"mcpServers": server, **({"mcp": handling} if handling else {})}
    lines = tuple(
        f"{section}.{name}: {json.dumps(value, ensure_ascii=False)}"
        for section, value in wanted.items()
    )
    before, text = read_text(place.file)
    for section, value in wanted.items():
        try:
            root = compose_yaml(text, place.file.name)
            text = put_in(text, root, ("silas", section, name), value)
        except UnfitText as unfit:
            raise by_hand(ServersEdit(place.file, before, b"", name, lines)) from unfit
    return ServersEdit(place.file, before, text.encode(), name, lines)


def plan_removed(place: ConfigPlace, name: str) -> ServersEdit:
    """Work out the file without this server.

    Raises:
        ConfigError: It cannot be read, or is written so that nothing can be taken out.
    """
    before, text = read_text(place.file)
    for section in _SECTIONS:
        try:
            text = without(text, compose_yaml(text, place.file.name), ("silas", section, name))
        except UnfitText as unfit:
            raise by_hand(ServersEdit(place.file, before, b"", name, ())) from unfit
    return ServersEdit(place.file, before, text.encode(), name, ())


def write_servers(edit: ServersEdit, place: ConfigPlace) -> None:
    """See `replace_file`; refuses what would not say exactly what was planned."""
    replace_file(edit, lambda: entry_after(edit, place))


def entry_after(edit: ServersEdit, place: ConfigPlace) -> MCPEntry | None:
    """The server as Silas will read it; None where it goes away.

    Raises:
        ConfigError: It breaks a rule, or the file would say anything else, too.
    """
    try:
        new = meaning_of(edit, place.environ)
    except ConfigError as error:
        raise ConfigError(f"Nothing was written: {error.message}", code=error.code) from error
    old = load_config(edit.file if edit.before is not None else None, place.environ)
    if _rest(new, edit.name) != _rest(old, edit.name):
        raise by_hand(edit)
    found = next((one for one in new.mcp_entries if one.name == edit.name), None)
    if (found is None) == bool(edit.lines):
        raise ConfigError(
            f"{edit.file} does not decide mcpServers.{edit.name}: a variable of the environment "
            "wins over it.",
            code=CODE,
        )
    return found


def _rest(config: SilasConfig, name: str) -> SilasConfig:
    """Everything but the one server."""
    kept = {
        section: {one: value for one, value in getattr(config, section).items() if one != name}
        for section in _SECTIONS
    }
    return config.model_copy(update=kept)


def without(text: str, root: YamlNode | None, path: tuple[str, ...]) -> str:
    """The text without what is at a path, and without a mapping that had nothing else."""
    if root is None:
        return text  # nothing else was in it
    holder, spot = root, None
    for name in path:
        if holder.members is None:
            raise UnfitText
        at = next((n for n, (key, _) in enumerate(holder.members) if key.text == name), None)
        if at is None:
            return text
        top = holder is root and holder.flows  # `{}` alone is no configuration
        if not top and (spot is None or len(holder.members) > 1):
            spot = (holder, holder.members, at)
        holder = holder.members[at][1]
    return text if spot is None else _cut(text, *spot)


def _cut(
    text: str, holder: YamlNode, members: tuple[tuple[YamlNode, YamlNode], ...], at: int
) -> str:
    key, value = members[at]
    if not holder.flows:
        begin = key.start - key.column
        if text[begin : key.start].strip():
            raise UnfitText
        return text[:begin] + text[line_end(text, max(last_of(value), key.end)) :]
    if at + 1 < len(members):
        return text[: key.start] + text[members[at + 1][0].start :]
    begin = members[at - 1][1].end if at else key.start
    return text[:begin] + text[value.end :]


def by_hand(edit: ServersEdit) -> ConfigError:
    """What the owner writes himself where the file is written as Silas does not change it."""
    file, told = str(edit.file), " ".join(edit.lines)
    if not told:
        words = tr(
            "{file} is written in a way that Silas does not change; take {name} out yourself.",
            file=file,
            name=edit.name,
        )
        return ConfigError(words, code=CODE)
    words = tr(
        "{file} is written in a way that Silas does not change; write into it yourself: {told}",
        file=file,
        told=told,
    )
    return ConfigError(words, code=CODE)
