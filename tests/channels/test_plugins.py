"""Channels of others: what their names lead to, how they are made, and what is said if not."""

import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from silas.channels import plugins
from silas.channels.plugins import ChannelAbsent, ChannelContext, load_channel, path_of, settings_of
from silas.config import SilasConfig, dump_config, load_config
from silas.errors import ConfigError
from silas.services.channels import channel_findings, examine_channels, load_channels
from silas.services.doctor.readiness import validate
from silas.stop import Sentinel
from silas.testing.clock import MockClock
from tests.channels.test_hub import Wire

WHERE = "channels.others.pigeon"


class Pigeon(Wire):
    """A channel that remembers how it was made."""

    class Config(BaseModel):
        loft: str

    def __init__(self, config: Config, context: ChannelContext) -> None:
        super().__init__()
        self.config, self.context = config, context


class NoChannel:
    def __init__(self, config: Any, context: Any) -> None:
        del config, context


class Failing:
    def __init__(self, config: Any, context: Any) -> None:
        raise OSError(f"the secret {config}")


async def coroutine(config: Any, context: Any) -> None:
    del config, context


A_WORD = "not callable"


def _config(tmp_path: Path, text: str, **environ: str) -> SilasConfig:
    file = tmp_path / "config.yaml"
    file.write_text(f"silas: {{channels: {{others: {text}}}}}", encoding="utf-8")
    return load_config(file, {"HOME": str(tmp_path), **environ})


def _pigeon(tmp_path: Path, name: str, **config: Any) -> Any:
    settings = {"use": f"{__name__}:{name}", "owner": "me", "config": config}
    others = _config(tmp_path, f"{{pigeon: {settings}}}").channels.others
    context = ChannelContext("pigeon", tmp_path, MockClock())
    settings = settings_of(others["pigeon"], {"LOFT": "north"}, WHERE)
    return load_channel(path_of(others["pigeon"].use, WHERE), settings, context, WHERE)


def test_a_channel_is_made_with_its_settings_and_what_it_declares_is_held(tmp_path: Path) -> None:
    channel = _pigeon(tmp_path, "Pigeon", loft="the ${LOFT} one")
    assert isinstance(channel, Pigeon)
    assert (channel.config.loft, channel.context.name) == ("the north one", "pigeon")


@pytest.mark.parametrize(
    ("name", "config", "words"),
    [
        ("Pigeon", {"lofts": "x"}, "does not take its settings"),
        ("Nobody", {}, "cannot be imported"),
        ("A_WORD", {}, "neither a class nor a function"),
        ("NoChannel", {}, "is no channel"),
        ("coroutine", {}, "is no channel"),
        ("Failing", {"key": "hush"}, r"cannot be made \(OSError\)"),
    ],
)
def test_what_is_wrong_with_its_code_is_one_sentence_without_a_setting(
    tmp_path: Path, name: str, config: dict[str, Any], words: str
) -> None:
    with pytest.raises(ChannelAbsent, match=words) as caught:
        _pigeon(tmp_path, name, **config)
    assert "hush" not in str(caught.value)


def _offered(monkeypatch: pytest.MonkeyPatch, **paths: str) -> None:
    group = [EntryPoint(name.rstrip("_"), path, plugins.GROUP) for name, path in paths.items()]

    def entry_points(**wanted: str) -> list[EntryPoint]:
        return [
            one for one in group if all(getattr(one, key) == value for key, value in wanted.items())
        ]

    monkeypatch.setattr(plugins, "entry_points", entry_points)


def test_an_entry_point_is_found_by_its_name_and_not_imported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _offered(monkeypatch, pigeon="never.imported:Pigeon")
    assert path_of("pigeon", WHERE) == "never.imported:Pigeon"
    assert "never" not in sys.modules


@pytest.mark.parametrize(
    ("use", "words"),
    [
        ("pidgeon", "no installed package offers a channel 'pidgeon'; the nearest is pigeon"),
        ("owl", "several packages offer 'owl'"),
        ("not a:path", "is no path such as package.module:factory"),
    ],
)
def test_a_name_that_leads_nowhere_or_to_two_is_refused(
    monkeypatch: pytest.MonkeyPatch, use: str, words: str
) -> None:
    _offered(monkeypatch, pigeon="a:A", owl="b:B", owl_="c:C")
    with pytest.raises(ConfigError, match=words) as caught:
        path_of(use, WHERE)
    assert caught.value.code == "E_CFG_CHANNEL"
    assert caught.value.message.startswith(f"{WHERE}.use")


@pytest.mark.parametrize(
    ("others", "words", "code"),
    [
        ("{web: {use: a, owner: me}}", "a name of Silas's own", "E_CFG_CHANNEL"),
        ("{cli: {use: a, owner: me}}", "a name of Silas's own", "E_CFG_CHANNEL"),
        ("{owner: {use: a, owner: me}}", "a name of Silas's own", "E_CFG_CHANNEL"),
        ("{'a:b': {use: a, owner: me}}", "channels.others", "E_CFG_CHANNEL"),
        ("{pigeon: {use: a}}", "nobody could talk there", "E_CFG_CHANNEL"),
        ("{pigeon: {owner: me}}", "channels.others.pigeon.use", "E_CFG_CHANNEL"),
        ("{pigeon: {use: a, owner: me, key: x}}", "no key key", "E_CFG_UNKNOWN_KEY"),
    ],
)
def test_a_section_that_cannot_be_meant_is_refused(
    tmp_path: Path, others: str, words: str, code: str
) -> None:
    with pytest.raises(ConfigError, match=words) as caught:
        _config(tmp_path, others)
    assert caught.value.code == code


def test_settings_stay_as_written_and_are_shown_as_stars(tmp_path: Path) -> None:
    text = "{pigeon: {use: '${USE}', owner: '${ME}', config: {key: '${KEY}', loft: north}}}"
    config = _config(tmp_path, text, USE="a:B", ME="4711", KEY="hush")
    other = config.channels.others["pigeon"]
    assert (other.use, other.owner, other.config["key"]) == ("a:B", "4711", "${KEY}")
    shown = dump_config(config)
    assert "hush" not in shown
    assert "north" not in shown
    with pytest.raises(ConfigError, match="environment variable KEY, which is not set"):
        settings_of(other, {}, WHERE)


async def test_doctor_and_validate_say_whether_each_channel_can_be_made(tmp_path: Path) -> None:
    def use(name: str, config: str = "{}") -> str:
        return f"{{use: '{__name__}:{name}', owner: me, strangers: true, config: {config}}}"

    text = f"{{pigeon: {use('Pigeon', '{loft: n}')}, owl: {use('NoChannel')}}}"
    config = _config(tmp_path, text)
    found = {one.part: one for one in await validate(config) if one.part.startswith("channel ")}
    assert found["channel pigeon"].state == "ok"
    assert "hears you and strangers" in found["channel pigeon"].words
    assert found["channel owl"].state == "failed"
    unknown = _config(tmp_path, "{pigeon: {use: nowhere, owner: me}}")
    with pytest.raises(ConfigError, match="offers a channel 'nowhere'"):
        examine_channels(unknown)
    assert channel_findings(unknown) == []
    [configuration] = [one for one in await validate(unknown) if one.part == "configuration"]
    assert "offers a channel 'nowhere'" in configuration.words


def test_while_silas_is_stopped_no_code_of_others_is_run(tmp_path: Path) -> None:
    config = _config(tmp_path, "{pigeon: {use: 'not_there:Pigeon', owner: me}}")
    config.data_dir.mkdir(parents=True)
    Sentinel(config.data_dir).place()
    [one] = load_channels(config, MockClock())
    assert one.channel is None
    assert "Silas is stopped" in one.why
