"""`silas doctor` and `silas config validate` in a terminal, in the owner's language (spec 8.2)."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from tests.support.command import environment, run, silas

CONFIGURATION = """
silas:
  language: de
  models:
    proxy: {name: "openrouter:acme/none", api_key_env: OPENROUTER_API_KEY}
    planner: {name: "openai:m", base_url: "http://127.0.0.1:9/v1"}
  plans_dirs: [nowhere]
  workers_dir: w
  channels: {web: {phone: {enabled: true, address: 192.0.2.78}}}
  memory: {embedder: endpoint, embedding_base_url: "http://127.0.0.1:9/v1"}
  gates:
    system:
      - {name: mine, on: every_user_message, provider: llm}
"""
_ENGLISH = re.compile(
    r"\b(?:the|is|are|were|not|has|have|with|which|there|and|or|its?|cannot|needs?|by|to|at)\b"
)
_NAMES = re.compile(r"`[^`]*`|/\S+|\S+/\S+|[\w-]+\.service")
"""Commands, settings, paths and addresses."""


def _english(said: str) -> list[str]:
    return _ENGLISH.findall(_NAMES.sub("", said))


@pytest.mark.parametrize("configured", [True, False])
def test_no_finding_is_left_in_english(tmp_path: Path, configured: bool) -> None:
    env = environment(tmp_path, SILAS_LANGUAGE="de", OPENROUTER_API_KEY="none")
    (tmp_path / "key").write_bytes(b"opens the key of this test")
    (tmp_path / "key").chmod(0o600)
    env["SILAS_KEYS__KEY_FILE"] = str(tmp_path / "key")
    assert not _english(run(silas("doctor"), env).out)  # before there is a key or a database
    made = run(silas("init"), env).out
    assert not _english(made), made
    assert made.startswith("Silas ist bereit. Seine Daten sind in ")
    assert "der einzige Eintrag ist der, der signiert wurde" in run(silas("doctor"), env).out
    if configured:
        (tmp_path / "config.yaml").write_text(CONFIGURATION, encoding="utf-8")
    for command in (("doctor",), ("config", "validate")):
        ended = run(silas(*command), env)
        assert not _english(ended.out), ended.out
        assert "Braucht deine Aufmerksamkeit" in ended.out or not configured
        told = json.loads(run(silas(*command, "--json"), env).out)
        assert told[0]["part"] == "configuration"  # programs read English


def test_the_day_of_the_key_is_that_of_the_owners_zone(tmp_path: Path) -> None:
    """One of these two has another day than UTC at any hour."""
    env = environment(tmp_path)
    (tmp_path / "key").write_bytes(b"opens the key of this test")
    (tmp_path / "key").chmod(0o600)
    env["SILAS_KEYS__KEY_FILE"] = str(tmp_path / "key")
    before = datetime.now(UTC)
    run(silas("init"), env)
    made = (before, datetime.now(UTC))
    for zone in ("Pacific/Kiritimati", "Etc/GMT+12"):
        out = run(silas("doctor", "--json"), {**env, "SILAS_SCHEDULER__TIMEZONE": zone}).out
        (words,) = (one["words"] for one in json.loads(out) if one["part"] == "key age")
        days = {f"{at.astimezone(ZoneInfo(zone)):%Y-%m-%d}" for at in made}
        assert any(f"(in force since {day})" in words for day in days), words
