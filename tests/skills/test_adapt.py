"""Skills of other programs: what becomes of each part, and that the same is said of it."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silas.skills.adapt import AdaptedSkill, Format, adapt
from silas.skills.folder import SkillError, SkillFile, contents
from silas.skills.front import read_skill_md
from silas.skills.models import SkillImportConfig, SkillValidationConfig
from silas.skills.source import commit_of, read_source
from silas.skills.validate import check
from tests.skills.kit import DESCRIPTION, put_skill, skill_md

RULES = SkillValidationConfig()
HEAD = f"name: excel\ndescription: {DESCRIPTION}\n"


def adapted(
    front: str = "",
    files: dict[str, str] | None = None,
    *,
    head: str = HEAD,
    body: str = "Read it.",
    hint: Format | None = None,
) -> AdaptedSkill:
    text = f"---\n{head}{front}---\n\n{body}\n"
    given = [SkillFile("SKILL.md", text.encode())]
    given += [SkillFile(path, words.encode()) for path, words in (files or {}).items()]
    return adapt(given, "/theirs/excel", "ab" * 20, hint, RULES)


# (front matter, files) and: format, a line of the report, a line of the new front matter
PARTS: dict[str, tuple[str, dict[str, str], str, str, str]] = {
    "tools that it grants itself": (
        "allowed-tools: Bash(*), Read\n",
        {},
        "claude",
        "removed: allowed-tools: 'Bash(*), Read'",
        "",
    ),
    "a fork": ("context: fork\n", {}, "claude", "removed: context: 'fork'", ""),
    "hooks": (
        "hooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n"
        "        - {type: command, command: 'curl x'}\n",
        {},
        "claude",
        "removed: hooks: ",
        "",
    ),
    "only when it is asked for": (
        "disable-model-invocation: true\n",
        {},
        "claude",
        "translated: disable-model-invocation into activation: manual",
        'activation: "manual"',
    ),
    "a version of its own": (
        "version: 1.2\nmetadata: {owner: me, more: {a: b}}\n",
        {},
        "silas",
        "translated: version into metadata",
        """metadata: {"owner": "me", "more": "{\\"a\\": \\"b\\"}", "version": "1.2"}""",
    ),
    "what it depends on": (
        "dependencies: [pandas, openpyxl]\n",
        {},
        "silas",
        "translated: dependencies into requirements",
        'requirements: ["pandas", "openpyxl"]',
    ),
    "an unknown key": ("colour: red\n", {}, "silas", "removed: colour: 'red'", ""),
    "words for another program's list": (
        "",
        {
            "agents/openai.yaml": "interface:\n  display_name: Excel\n  brand_color: '#fff'\n"
            "policy:\n  allow_implicit_invocation: false\n"
        },
        "openai",
        "translated: agents/openai.yaml: display_name into ui",
        'ui: {"display_name": "Excel"}',
    ),
    "a file that is not YAML": (
        "",
        {"agents/openai.yaml": "a: [b"},
        "openai",
        "removed: agents/openai.yaml, which cannot be read",
        "",
    ),
    "a script for a shell": (
        "",
        {"scripts/sum.sh": "#!/usr/bin/env bash\necho $1\n"},
        "silas",
        "rewritten: scripts/sum.sh is started by scripts/sum.py",
        "",
    ),
    "a script whose entry point is taken": (
        "",
        {"sum": "#!/bin/sh\n", "sum.py": "print(1)\n"},
        "silas",
        "unresolved: sum: sum.py is there already",
        "",
    ),
    "a program of another kind": (
        "",
        {"scripts/run.js": "console.log(1)"},
        "silas",
        "unresolved: scripts/run.js: no Python",
        "",
    ),
    "a file for credentials": (
        "",
        {"scripts/.env": "A=b"},
        "silas",
        "removed: scripts/.env, where credentials are kept",
        "",
    ),
    "a rule that it breaks": (
        "",
        {"run.py": "import os\nos.getenv('TOKEN')\n"},
        "silas",
        "unresolved: run.py: it reads the environment variable 'TOKEN'",
        "",
    ),
}


@pytest.mark.parametrize("part", PARTS)
def test_each_part_is_kept_translated_or_left_out_and_named(part: str) -> None:
    front, files, form, line, written = PARTS[part]
    done = adapted(front, files)
    assert done.report.format == form
    assert any(one.startswith(line) for one in done.report.lines())
    text = next(file.raw for file in done.files if file.path == "SKILL.md").decode()
    assert written in text.split("\n") or not written
    skill_md = read_skill_md(text.encode(), done.name)
    assert (skill_md.front.description, skill_md.body) == (DESCRIPTION, "Read it.")
    assert done == adapted(front, files)


def test_what_is_in_silas_form_already_is_kept_to_the_byte() -> None:
    done = adapted("license: MIT\nmetadata: {a: b}\n", {"scripts/a.py": "print(1)\n"})
    assert done.report.lines() == ()
    assert [file.path for file in done.files] == ["SKILL.md", "scripts/a.py"]
    front = "license: MIT\nmetadata: {a: b}\n"
    assert done.files[0].raw.decode() == f"---\n{HEAD}{front}---\n\nRead it.\n"


def test_a_name_that_the_standard_does_not_allow_is_made_one_that_it_does() -> None:
    done = adapted(head=f"name: My Excel_Skill!\ndescription: {DESCRIPTION}\n")
    assert done.name == "my-excel-skill"
    assert done.report.translated == ("name 'My Excel_Skill!' into my-excel-skill",)


def test_what_other_programs_run_while_they_read_stays_text_and_is_named() -> None:
    body = "Now: !`date; curl x`\n\nAnd {{scripts/a.py}}."
    done = adapted(body=body)
    assert [line.split(":")[0] for line in done.report.unresolved] == [
        "line 1 of the instructions",
        "line 3 of the instructions",
    ]
    assert body in done.files[0].raw.decode()


@pytest.mark.proves("S10.4.1-NO-CREDENTIALS")
@pytest.mark.parametrize(
    "secret", [f"sk-live-{'a1' * 12}", f"ghp_{'a1' * 18}", "-----BEGIN RSA PRIVATE KEY-----"]
)
@pytest.mark.parametrize("path", ["scripts/a.py", "references/x.md", "assets/t.json"])
def test_a_credential_anywhere_in_it_ends_the_import(secret: str, path: str) -> None:
    with pytest.raises(SkillError, match="never imported") as refused:
        adapted(files={path: f"x = '{secret}'\n"})
    assert path in refused.value.message
    assert secret not in refused.value.message


def test_a_wrapped_script_is_started_with_words_and_by_no_shell(tmp_path: Path) -> None:
    done = adapted(files={"scripts/sum.sh": "echo $1\n"})
    wrapper = next(file for file in done.files if file.path == "scripts/sum.py").raw.decode()
    assert '["/bin/sh", str(script), *sys.argv[1:]]' in wrapper
    assert "shell=" not in wrapper
    folder = put_skill(tmp_path, "excel", files={"scripts/sum.py": wrapper})
    read = read_skill_md((folder / "SKILL.md").read_bytes(), "excel")
    assert check(read, contents(folder), RULES) == ()


@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda t: f"---\n{t}\n---\nx".encode()))
def test_whatever_is_imported_it_is_a_skill_or_one_sentence(raw: bytes) -> None:
    said = "."
    try:
        done = adapt([SkillFile("SKILL.md", raw)], "/x", "", None, RULES)
        read_skill_md(next(f.raw for f in done.files if f.path == "SKILL.md"), done.name)
        assert all(line.isprintable() for line in done.report.lines())
    except SkillError as error:
        said = error.message
    assert said.isprintable()
    assert said.endswith((".", "?"))


# where it comes from ------------------------------------------------------------------------------
COMMIT = "0123456789abcdef" * 2 + "01234567"
GIT: dict[str, tuple[dict[str, str], str]] = {
    "a branch": ({"HEAD": "ref: refs/heads/main\n", "refs/heads/main": COMMIT}, COMMIT),
    "a branch among many": (
        {"HEAD": "ref: refs/heads/main\n", "packed-refs": f"# x\n{COMMIT} refs/heads/main\n"},
        COMMIT,
    ),
    "no branch": ({"HEAD": COMMIT}, COMMIT),
    "a branch that leads elsewhere": ({"HEAD": "ref: refs/../../../secret"}, ""),
    "words": ({"HEAD": "not a commit"}, ""),
    "nothing": ({}, ""),
}


@pytest.mark.parametrize("kind", GIT)
def test_the_commit_of_a_clone_is_reported(kind: str, tmp_path: Path) -> None:
    files, commit = GIT[kind]
    (tmp_path / ".git").mkdir()
    (tmp_path / "secret").write_text(COMMIT)
    for path, text in files.items():
        (tmp_path / ".git" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / ".git" / path).write_text(text)
    folder = put_skill(tmp_path, "excel")
    assert commit_of(folder) == commit
    assert read_source(str(folder), SkillImportConfig()).commit == commit


def test_what_lies_beside_a_skill_in_a_repository_is_passed_over(tmp_path: Path) -> None:
    folder = put_skill(tmp_path, "excel", files={".git/HEAD": COMMIT, "__pycache__/a.pyc": "x"})
    (folder / ".git" / "link").symlink_to("/etc")
    found = read_source(str(folder), SkillImportConfig())
    assert [file.path for file in found.files] == ["SKILL.md"]


@pytest.mark.parametrize(
    ("source", "allowed", "why"),
    [
        ("https://github.com/a/b", {}, "fetches no skill by itself"),
        ("github:a/b", {}, "fetches no skill by itself"),
        ("git@github.com:a/b.git", {}, "fetches no skill by itself"),
        ("excel", {"allow_external": False}, "allow_external is false"),
        ("excel", {"allowed_sources": ("github",)}, "has no local_path"),
        ("gone", {}, "cannot be read as a folder"),
    ],
)
def test_where_nothing_may_come_from_nothing_does(
    source: str,
    allowed: dict[str, object],
    why: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    put_skill(tmp_path, "excel", skill_md("excel"))
    with pytest.raises(SkillError, match=why):
        read_source(source, SkillImportConfig.model_validate(allowed))
