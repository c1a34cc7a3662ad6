"""`.worker` files: what they may say, where an error is, and that a bad one disturbs nobody."""

import contextlib
import hashlib
import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silas.agents.worker_file import Worker, WorkerError, read_worker
from silas.agents.workers import WorkerLibrary
from silas.errors import ConfigError
from silas.tools.models import Stance, validated_call
from silas.tools.offers import built_in_offer

ROOT = Path(__file__).resolve().parents[2]

WHOLE = """\
---
name: coder
description: Changes code.
model: { name: "openai:gpt-5", temperature: 0 }
toolsets:
  _defaults: [python]
  shell:
    rules:
      - { pattern: "git push", blocked: true }
      - { pattern: "git *", approval_required: false }
    default: { approval_required: true }
    _approval_config: { shell_exec: { pre_approved: true } }
delegates: [reviewer]
approval:
  delegate: { approval_required: true }
  python_exec: { blocked: true }
---

# What you do

Change code.
"""


def read(text: str | bytes) -> Worker:
    return read_worker(text if isinstance(text, bytes) else text.encode(), built_in_offer)


def front(*lines: str, body: str = "Do it.") -> str:
    return "\n".join(("---", "name: w", "description: d", *lines, "---", body, ""))


def stances(worker: Worker, *argvs: str) -> list[Stance]:
    policy = worker.offer.policy
    calls = [validated_call("shell_exec", "run", {"argv": argv.split()}) for argv in argvs]
    return [policy.stance(call) for call in calls]


def test_a_file_says_who_a_worker_is_and_what_it_may() -> None:
    worker = read(WHOLE)
    assert (worker.name, worker.description) == ("coder", "Changes code.")
    assert worker.model is not None
    assert (worker.model.name, worker.model.temperature) == ("openai:gpt-5", 0)
    assert worker.offer.tools == {"shell_exec", "python_exec"}
    assert (worker.delegates, worker.skills) == (("reviewer",), ())
    assert worker.instructions == "# What you do\n\nChange code."
    assert worker.digest == hashlib.sha256(WHOLE.encode()).hexdigest()
    assert worker.offer.policy.tools == {
        "shell_exec": Stance.pre_approved,
        "delegate": Stance.ask,
        "python_exec": Stance.blocked,
    }
    assert stances(worker, "git log", "make", "git push", "git log | sh") == [
        Stance.pre_approved,
        Stance.pre_approved,
        Stance.blocked,
        Stance.blocked,
    ]


def test_a_worker_that_names_no_toolset_has_no_tool() -> None:
    worker = read(front())
    assert (worker.offer.tools, worker.offer.policy.tools) == (frozenset(), {})
    assert worker.model is None


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("shell: ", Stance.silent),
        ("shell: { _approval_config: { pre_approved: true } }", Stance.pre_approved),
        ("shell: { _approval_config: { shell_exec: { pre_approved: false } } }", Stance.ask),
        ("shell: { _approval_config: { shell_exec: { blocked: true } } }", Stance.blocked),
        ("shell: { rules: [] }", Stance.blocked),
        ("shell: { default: {} }", Stance.ask),
        ("shell: { default: {}, _approval_config: { pre_approved: true } }", Stance.pre_approved),
        ("shell: { rules: [], _approval_config: { pre_approved: true } }", Stance.blocked),
    ],
)
def test_toolset_settings_become_the_workers_own_policy(lines: str, expected: Stance) -> None:
    assert stances(read(front("toolsets:", f"  {lines}")), "ls") == [expected]


def test_of_two_settings_about_one_tool_the_stricter_stays() -> None:
    lax = "toolsets: { shell: { _approval_config: { shell_exec: { blocked: true } } } }"
    worker = read(front(lax, "approval: { shell_exec: { pre_approved: true } }"))
    assert stances(worker, "ls") == [Stance.blocked]


BAD: list[tuple[str, str | bytes, tuple[int, int], str]] = [
    ("no front matter", "Just do it.\n", (1, 1), "---"),
    ("prose first", "Here it is:\n```\n" + front() + "```\n", (1, 1), "must begin"),
    ("never closed", "---\nname: w\n", (1, 1), "not closed"),
    ("empty", "---\n---\nDo it.\n", (1, 1), "empty"),
    ("not text", b"---\nname: w\n\xff\n---\nx", (3, 1), "UTF-8"),
    ("unknown key", front("toolset: {}"), (4, 1), "did you mean `toolsets`?"),
    ("no name", "---\ndescription: d\n---\nx\n", (2, 1), "`name` is missing"),
    ("no description", "---\nname: w\n---\nx\n", (2, 1), "`description` is missing"),
    ("bad name", "---\nname: ../w\ndescription: d\n---\nx\n", (2, 7), "`name`: must be"),
    ("two lines", '---\nname: w\ndescription: "a\\nb"\n---\nx\n', (3, 14), "one line"),
    ("number", front("delegates: 3"), (4, 12), "`delegates`"),
    ("twice", front("delegates: [a, a]"), (4, 12), "twice"),
    ("key twice", front("name: v"), (4, 1), "given twice"),
    ("anchor", front("skills: &a [x]"), (4, 9), "anchors"),
    ("no instructions", front(body=" "), (4, 1), "no instructions"),
    ("bad model", front('model: { name: x, base_url: "ftp://y" }'), (4, 8), "base_url"),
    ("unknown toolset", front("toolsets:", "  shel:"), (5, 3), "no toolset 'shel'"),
    ("toolset is text", front("toolsets:", "  shell: all"), (5, 3), "a mapping"),
    ("unknown setting", front("toolsets:", "  shell: { rule: [] }"), (5, 12), "`rule`"),
    (
        "bad pattern",
        front("toolsets:", "  shell:", "    rules:", '      - { pattern: "ls | sh" }'),
        (7, 11),
        "mean something to a shell",
    ),
    (
        "yes and no",
        front("toolsets: { shell: }", "approval:", "  shell_exec: { pre_approved: true, "
              "approval_required: true }"),
        (6, 15),
        "yes and no",
    ),
    ("foreign tool", front("approval: { lamp: { blocked: true } }"), (4, 13), "no tool `lamp`"),
    (
        "tool of another toolset",
        front("toolsets:", "  python: { _approval_config: { shell_exec: { blocked: true } } }"),
        (5, 33),
        "no tool 'shell_exec'",
    ),
    ("delegate without delegates", front("approval: { delegate: {} }"), (4, 13), "no tool"),
    ("defaults", front("toolsets: { _defaults: shell }"), (4, 13), "a list"),
    ("hidden character", front("skills: [a\u202eb]"), (4, 11), "invisible"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "place", "words"), [b[1:] for b in BAD], ids=[b[0] for b in BAD])
def test_a_bad_file_is_one_sentence_with_its_place(
    text: str | bytes, place: tuple[int, int], words: str
) -> None:
    with pytest.raises(WorkerError) as raised:
        read(text)
    error = raised.value
    assert (error.line, error.column) == place
    assert words in error.message
    assert error.code == "E_CFG_WORKER"
    assert "\n" not in error.message
    assert " plan" not in error.message


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_whatever_a_file_holds_the_answer_is_a_worker_or_one_error(raw: bytes) -> None:
    for given_bytes in (raw, b"---\nname: w\ndescription: d\n" + raw + b"\n---\nDo it.\n"):
        with contextlib.suppress(WorkerError):
            assert read(given_bytes).instructions


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def write(folder: Path, name: str, text: str | None = None, **lines: str) -> None:
    own = [f"{key}: {value}" for key, value in lines.items()]
    whole = text or front(*own).replace("name: w", f"name: {name}")
    (folder / f"{name}.worker").write_text(whole, encoding="utf-8")


def test_a_bad_file_is_no_worker_and_disturbs_no_other(folder: Path) -> None:
    library = WorkerLibrary(folder, built_in_offer)
    write(folder, "good")
    write(folder, "broken", "---\n")
    write(folder, "renamed", front())
    write(folder, "needs", delegates="[broken]")
    (folder / "big.worker").write_text(front(body="x" * 300_000))
    (folder / "link.worker").symlink_to(folder / "nowhere")
    (folder / "everybody.worker").write_text(front())
    (folder / "everybody.worker").chmod(0o666)
    os.mkfifo(folder / "pipe.worker")
    (folder / "README.md").write_text("no worker")
    found = {one.name: one for one in library.all()}
    assert {name for name, one in found.items() if one.worker is not None} == {"good"}
    faults = {name: one.fault for name, one in found.items() if one.worker is None}
    assert faults.keys() == {"broken", "renamed", "needs", "big", "link", "pipe", "everybody"}
    assert all(fault.endswith(".") and "\n" not in fault for fault in faults.values())
    assert "to which 'needs' may delegate" in faults["needs"]
    assert library.team("good").lead.name == "good"
    for name in faults:
        with pytest.raises(ConfigError):
            library.team(name)


@pytest.mark.parametrize("name", ["absent", "../good", "good/..", "", "Good", "a" * 99, ".", "*"])
def test_only_a_file_of_the_directory_is_a_worker(folder: Path, name: str) -> None:
    write(folder, "good")
    (folder.parent / "good.worker").write_text(front())
    with pytest.raises(ConfigError) as raised:
        WorkerLibrary(folder, built_in_offer).team(name)
    assert "silas workers list" in raised.value.message


def test_a_team_is_everybody_who_can_be_reached_with_the_digest_of_each_file(folder: Path) -> None:
    write(folder, "a", delegates="[b, c]")
    write(folder, "b", delegates="[a]")
    write(folder, "c", delegates="[b]")
    write(folder, "d")
    library = WorkerLibrary(folder, built_in_offer)
    before = library.team("a").digests()
    assert before == {
        name: hashlib.sha256((folder / f"{name}.worker").read_bytes()).hexdigest()
        for name in ("a", "b", "c")
    }
    write(folder, "c", delegates="[b, a]")
    after = library.team("a").digests()
    assert (before["a"], before["b"]) == (after["a"], after["b"])
    assert before["c"] != after["c"]


def test_a_directory_that_is_not_there_has_no_workers(folder: Path) -> None:
    assert WorkerLibrary(folder / "none", built_in_offer).all() == ()


def test_the_shipped_examples_are_workers() -> None:
    found = WorkerLibrary(ROOT / "workers", built_in_offer).all()
    assert [(one.name, one.fault) for one in found] == [("maintainer", ""), ("reviewer", "")]


def test_a_tool_call_of_a_worker_is_plain_json_for_the_record() -> None:
    policy = read(WHOLE).offer.policy
    assert type(policy).model_validate_json(policy.model_dump_json()) == policy
    assert json.loads(policy.model_dump_json())["tools"]["delegate"] == "ask"
