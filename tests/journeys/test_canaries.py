"""Fifty secrets in real work, and a search through every byte that is left of it (spec 0.5)."""

import asyncio
import base64
import gzip
import json
import random
import string
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import pytest

from silas import Silas, SilasConfig, load_config
from silas.agents import ModelChoice
from silas.cards import Card, PlanAnswer, PlanCard
from silas.home.runtime import Runtime, real_runtime
from silas.plans import PlanParser, plan_hash
from silas.services.secrets import open_secrets_service
from silas.services.setup.initialise import initialise
from silas.testing import CallTool, ScriptedChannel, ScriptedModel, plan_text
from tests.support.command import environment, run, silas
from tests.work.kit import DONE

_ALPHABETS = (
    string.ascii_letters + string.digits,
    string.digits,
    string.ascii_letters + string.digits + "-_.~+/=",
    string.ascii_letters + string.digits + "!#$%&'()*,:;<>?@[]^`{|}\"\\ ",
    string.ascii_letters + "äöüßéèñçøåλжя漢字",
)


def canaries() -> dict[str, str]:
    """Fifty values of every kind, the same each time."""
    chance = random.Random(50)
    made: dict[str, str] = {}
    for number in range(50):
        letters = _ALPHABETS[number % len(_ALPHABETS)]
        value = "".join(chance.choices(letters, k=chance.randint(16, 48))).strip()
        if number % 10 == 7:
            lines = ("".join(chance.choices(string.ascii_letters, k=40)) for _ in range(3))
            value = "\n".join(lines)
        made[f"CANARY_{number:02}"] = f"c{number:02}{value}e"
    return made


SECRETS = canaries()


def forms(value: str) -> Iterator[bytes]:
    """What a byte scan looks for. Made with the standard library alone, by other means than Silas
    looks for secrets.
    """
    octets = value.encode()
    yield octets
    yield octets.hex().encode()
    yield octets.hex().upper().encode()
    yield quote(value).encode()
    yield quote(value, safe="").encode()
    yield quote_plus(value).encode()
    yield json.dumps(value)[1:-1].encode()
    for place in range(3):
        whole = base64.b64encode(b"\0" * place + octets)
        inner = whole[4 if place else 0 : -4]
        yield inner
        yield inner.translate(bytes.maketrans(b"+/", b"-_"))


FORMS = {form: name for name, value in SECRETS.items() for form in forms(value)}


def plain_and_unzipped(content: bytes) -> Iterator[bytes]:
    """The bytes, and what every gzip stream in them holds."""
    yield content
    at = content.find(b"\x1f\x8b\x08")
    while at >= 0:
        with suppress(zlib.error):  # where these three bytes began no gzip stream
            yield zlib.decompressobj(31).decompress(content[at:], 1 << 24)
        at = content.find(b"\x1f\x8b\x08", at + 1)


def found_in(places: Mapping[str, bytes]) -> set[tuple[str, str]]:
    """Which secret is where."""
    return {
        (place, name)
        for place, content in places.items()
        for text in plain_and_unzipped(content)
        for form, name in FORMS.items()
        if form in text
    }


def everything_below(folder: Path) -> dict[str, bytes]:
    """Every file, with its name: the database and its log, the record, keys, undo, scratch."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path): str(path).encode() + b"\n" + path.read_bytes() for path in files}


PRINT = """
import base64, binascii, gzip, json, os, sys, urllib.parse
given = json.load(open(f"/dev/fd/{os.environ['SILAS_SECRETS_FD']}"))
print(len(given), "secrets")
for name, value in given.items():
    octets = value.encode()
    print(name, value)
    print(base64.b64encode(octets).decode(), base64.urlsafe_b64encode(b"x" + octets).decode())
    print(base64.encodebytes(b"xy" + octets * 3).decode())
    print(octets.hex(), binascii.hexlify(octets, ":").decode().upper())
    print(urllib.parse.quote(value), urllib.parse.quote_plus(value, safe=""))
    print(json.dumps({"said": value}), repr(value), octets)
    print(base64.b64encode(gzip.compress(octets)).decode())
    print(value, file=sys.stderr)
"""
FLOWS = {
    "prints": PRINT + "open('result.txt', 'w').write('done')\n",
    "raises": PRINT + "raise RuntimeError('cannot log in with ' + ', '.join(given.values()))\n",
    "crashes": PRINT + "sys.stdout.flush(); os.abort()\n",
    "floods": PRINT + "while True: print(*given.values())\n",
    "writes": PRINT
    + "open('result.txt', 'w').write('done')\n"
    + "json.dump(given, open('leak.json', 'w'))\n"
    + "gzip.open('leak.gz', 'wb').write(given['CANARY_03'].encode())\n"
    + "os.symlink(given['CANARY_00'], 'leak')\n",
    "names": "import json\ngiven = json.load(open('/dev/fd/4'))\n"
    + "open(given['CANARY_00'], 'w').write('done')\nopen('result.txt', 'w').write('done')\n",
}
"""Real work that uses its secrets badly, and how it ends: done, or failed with nothing applied."""


def a_text(flow: str, refs: Mapping[str, str], workspace: Path) -> str:
    return plan_text(
        id=f"canary-{flow}",
        title=f"Work that {flow} its secrets",
        body=f"# Do\n\n```python\n{FLOWS[flow].strip()}\n```\n",
        credential_refs=dict(refs),
        workspace=str(workspace),
        budget={"max_attempts": 1},
    )


async def keep_all(env: Mapping[str, str]) -> dict[str, str]:
    """Two through the command line, the others as it does; reference by name."""
    for name in ("CANARY_00", "CANARY_03"):
        done = run(silas("secrets", "add", name), env, stdin=SECRETS[name] + "\n")
        assert done.code == 0, done.err
    async with open_secrets_service(load_config(environ=env)) as service:
        for name, value in SECRETS.items():
            if name not in ("CANARY_00", "CANARY_03"):
                await service.add(name, value)
        return {facts.name: facts.ref_id for facts in service.vault.facts()}


def at_the_command_line(
    env: Mapping[str, str], refs: Mapping[str, str], folder: Path
) -> dict[str, bytes]:
    """Each flow as a command of its own; what the commands said."""
    said: dict[str, bytes] = {}
    for flow in FLOWS:
        workspace = folder / flow
        workspace.mkdir()
        text = a_text(flow, refs, workspace)
        plan = folder / f"{flow}.md"
        plan.write_text(text)
        approved = f"sha256:{plan_hash(PlanParser().parse(text))}"
        done = run(silas("run", plan, "--approve", approved, "--json"), env)
        assert done.code == (0 if flow == "prints" else 1), done.err
        assert (workspace / "result.txt").exists() is (flow == "prints")
        said[f"silas run {flow}"] = (done.out + done.err).encode()
    for words in (
        ("status", "--json"),
        ("secrets", "list"),
        ("audit", "show", "--last", "1000"),
        ("audit", "export", folder / "export.jsonl"),
        ("doctor",),
        ("config", "show"),
    ):
        done = run(silas(*words), env)
        said[f"silas {words[0]} {words[1:2]}"] = (done.out + done.err).encode()
    said["export"] = (folder / "export.jsonl").read_bytes()
    return said


async def with_a_model(
    env: Mapping[str, str], refs: Mapping[str, str], folder: Path
) -> dict[str, bytes]:
    """The same work asked of a model; what it and the owner were told."""

    def owner(card: Card[Any]) -> Any:
        return PlanAnswer(verdict="approved") if isinstance(card, PlanCard) else card.safe

    model = ScriptedModel([CallTool("python_exec", {"code": FLOWS["prints"]}), DONE])

    def runtime(config: SilasConfig) -> Runtime:
        def made(_: ModelChoice) -> ScriptedModel:
            return model

        return replace(real_runtime(config), make_model=made)

    channel = ScriptedChannel(owner)
    workspace = folder / "asked"
    workspace.mkdir()
    config = load_config(environ=env)
    async with Silas.open(config, channel=channel, runtime=runtime) as house:
        text = a_text("prints", refs, workspace).replace("canary-prints", "canary-asked")
        result = await house.run(text)
    prompts = "\n".join(repr(request.messages) for request in model.requests)
    assert "50 secrets" in prompts
    assert "[secret CANARY_49]" in prompts
    return {
        "prompts": prompts.encode(),
        "result": repr(result).encode(),
        "channel": repr((channel.sent, channel.cards)).encode(),
    }


def marked(places: Iterable[bytes]) -> set[str]:
    """Which secrets were redacted somewhere."""
    everything = b"".join(places)
    return {name for name in SECRETS if f"[secret {name}]".encode() in everything}


@pytest.mark.proves(
    "S0.5-SECRETS-OUT-OF-PIPELINE", "S0.5-SECRETS-NOT-IN-RECORDS", "S0.5-SECRETS-NOT-IN-DATABASE"
)
async def test_of_fifty_secrets_in_real_work_no_byte_is_left_anywhere(tmp_path: Path) -> None:
    home, folder = tmp_path / "home", tmp_path / "work"
    env = environment(home)
    folder.mkdir()
    await initialise(load_config(environ=env))
    refs = await keep_all(env)
    assert len(refs) == len(SECRETS) == 50
    said = await asyncio.to_thread(at_the_command_line, env, refs, folder)
    said |= await with_a_model(env, refs, folder)
    left = {**said, **everything_below(tmp_path)}
    assert any(name.endswith("silas.db") for name in left)
    assert found_in(left) == set()
    assert marked(said.values()) == set(SECRETS)


@pytest.mark.parametrize("name", ["CANARY_00", "CANARY_03", "CANARY_04", "CANARY_07"])
def test_the_search_finds_each_form_of_a_secret_that_was_left_somewhere(
    name: str, tmp_path: Path
) -> None:
    for number, form in enumerate(forms(SECRETS[name])):
        planted = tmp_path / f"{number}.db"
        planted.write_bytes(b"SQLite" + random.Random(number).randbytes(5000) + form + b"\0")
        assert found_in(everything_below(tmp_path)) == {(str(planted), name)}
        planted.write_bytes(b"page" + gzip.compress(b"prompt: " + form + b"."))
        assert found_in(everything_below(tmp_path)) == {(str(planted), name)}
        planted.unlink()
    named = tmp_path / SECRETS["CANARY_00"]
    named.touch()
    assert found_in(everything_below(tmp_path)) == {(str(named), "CANARY_00")}
