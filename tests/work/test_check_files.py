"""Which changed files a plan runs by name, through scripts, links, patterns and targets (D360)."""

from pathlib import Path
from typing import Any

import pytest

from silas.plans import WorkItem
from silas.testing import a_plan
from silas.work.changes.copy_view import tree_of
from silas.work.checks.check_files import changed_files, run_files
from silas.work.checks.expected_texts import expected_texts
from silas.workspace.copy import Change
from silas.workspace.tree import TreeEntry

FILES = {
    "tests/run.sh": "sh tests/more.sh && python3 tests/verify.py && python3 app.py\n",
    "tests/more.sh": "true\n",
    "tests/verify.py": "import subprocess\nsubprocess.run(['sh', 'tests/last.sh'])\n",
    "tests/last.sh": "true\n",
    "tests/deep.sh": "true\n",
    "my checks/run it.sh": "true\n",
    "app.py": "print(1)\n",
    "probe.py": "print(1)\n",
    "pkg/__main__.py": "print(1)\n",
    "tests/test_app.py": "def test_it(): pass\n",
    "Makefile": (
        "SHELLS = sh\nall: build\nbuild:\n\tpython3 app.py\n"
        "test: lint\n\t@$(SHELLS) tests/run.sh\nlint:\n\tsh tests/deep.sh\n"
    ),
    "package.json": '{"scripts": {"test": "sh tests/run.sh", "start": "node app.js"}}',
    "app.js": "1\n",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    at = tmp_path / "project"
    for name, text in FILES.items():
        (at / name).parent.mkdir(parents=True, exist_ok=True)
        (at / name).write_text(text)
    (at / "link.sh").symlink_to("tests/last.sh")
    (at / "linked").symlink_to("tests")
    return at


def plan(project: Path, run: str, expect: Any = None, **fields: Any) -> WorkItem:
    check = {"name": "right", "run": run, "expect": expect or {"exit_code": 0}}
    return a_plan(workspace=str(project), verify=[check], **fields)


def change(path: str, *, made: bool = False) -> Change:
    entry = TreeEntry("file", 0o644, "00", 1)
    return Change(path, None if made else entry, TreeEntry("file", 0o644, "01", 1))


def run_by(project: Path, run: str, *changes: Change, **fields: Any) -> list[str]:
    for one in changes:
        (project / one.path).parent.mkdir(parents=True, exist_ok=True)
        (project / one.path).touch()
    return sorted(run_files(changes, plan(project, run, **fields), tree_of(project)))


RUN = {
    "a script": ("sh tests/run.sh", "tests/run.sh"),
    "a quoted name": ("sh 'my checks/run it.sh'", "my checks/run it.sh"),
    "with a dot": ("./tests/../tests/run.sh", "tests/run.sh"),
    "after a cd": ("cd tests && sh run.sh", "tests/run.sh"),
    "after a cd that ended": ("(cd pkg && true); sh tests/run.sh", "tests/run.sh"),
    "a link": ("sh link.sh", "tests/last.sh"),
    "a linked folder": ("sh linked/run.sh", "tests/run.sh"),
    "a module": ("python3 -m pkg", "pkg/__main__.py"),
    "a Python script": ("python3 probe.py", "probe.py"),
    "read by Python": ("python3 -c \"exec(open('probe.py').read())\"", "probe.py"),
    "by a variable": ("X=probe.py; python3 $X", "probe.py"),
    "by a loop": ('for t in tests/*.sh; do sh "$t" || exit 1; done', "tests/deep.sh"),
    "by find": ("find tests -name '*.sh' -exec sh {} +", "tests/deep.sh"),
    "by xargs": ("ls tests/*.sh | xargs -n1 sh", "tests/deep.sh"),
    "through a pipe": ("cat probe.py | python3", "probe.py"),
    "on the next line": ("sh \\\n tests/run.sh", "tests/run.sh"),
    "a quote of bash": ("sh $'tests/run.sh'", "tests/run.sh"),
    "a script of a script": ("sh tests/run.sh", "tests/more.sh"),
    "what Python starts": ("sh tests/run.sh", "tests/last.sh"),
    "a target": ("make test", "tests/run.sh"),
    "what a target needs": ("make -s test", "tests/deep.sh"),
    "a script of a package": ("npm test", "tests/run.sh"),
    "the same, in full": ("npm run --silent test", "tests/run.sh"),
    "a test that is named": ("python3 -m pytest tests/test_app.py::test_it", "tests/test_app.py"),
    "a test module": ("python3 -m unittest tests.test_app", "tests/test_app.py"),
    "compared, and called a check": ("python3 tests/verify.py | grep -q ok", "tests/verify.py"),
    "compared, and for a shell": ('test "$(sh tests/run.sh)" = ok', "tests/run.sh"),
    "settings": ("golint; go test ./...", "go.mod"),
    "copied before": ("cp probe.py /tmp/p.py && python3 /tmp/p.py", "probe.py"),
    "copied to a folder": ("mkdir t; cp -r tests t && sh t/tests/deep.sh", "tests/deep.sh"),
    "copied into a folder": ("mkdir t; cp tests/deep.sh t/ && sh t/deep.sh", "tests/deep.sh"),
    "copied to a named folder": ("cp -t /tmp probe.py; python3 /tmp/probe.py", "probe.py"),
    "moved before": ("cd tests; mv deep.sh d.sh; sh d.sh", "tests/deep.sh"),
    "linked before": ("ln -s tests/deep.sh d; ./d", "tests/deep.sh"),
    "written before": ("cat probe.py > p.py; python3 p.py", "probe.py"),
    "written in a folder": ("cd tests && cat deep.sh >d.sh && sh d.sh", "tests/deep.sh"),
    "changed by the way": ("sed s/a/b/ probe.py >/tmp/p.py && python3 /tmp/p.py", "probe.py"),
    "written by tee": ("cat probe.py | tee p.py; python3 p.py", "probe.py"),
    "a command that is printed": ("$(cat tests/deep.sh)", "tests/deep.sh"),
}  # fmt: skip


@pytest.mark.parametrize("name", RUN)
def test_what_a_check_runs_is_found(name: str, project: Path) -> None:
    run, path = RUN[name]
    assert run_by(project, run, change(path), change("notes.md")) == [path]
    changes = [change(path), change("notes.md")]
    checks = plan(project, run).verify
    assert changed_files(changes, checks, str(project), tree_of(project)) == (path,)


ABOUT = {
    "looked at": ("grep -q TAX app.py", "app.py"),
    "counted": ('test "$(wc -l < app.py)" -eq 3', "app.py"),
    "imported": ("python3 -c 'import app; assert app'", "app.py"),
    "its output compared": ("python3 app.py | grep -q 1", "app.py"),
    "its output worked out": ('[ "$(python3 app.py)" = 1 ]', "app.py"),
    "run by a script of the check": ("sh tests/run.sh", "app.py"),
    "run by another target": ("make test", "app.py"),
    "run by another script": ("npm test", "app.js"),
    "read one by one": ("for f in *.py; do python3 -m tokenize $f; done", "app.py"),
    "beside what is worked out": ("X=tests/run.sh; sh $X && grep -q 1 app.py", "app.py"),
    "one of many tests": ("python3 -m pytest -q tests", "tests/test_app.py"),
    "copied beside what is run": (
        "cp app.py /tmp/a; cmp -s app.py /tmp/a; sh tests/run.sh",
        "app.py",
    ),
    "written beside what is run": ("sh tests/run.sh > out; cat app.py > all", "app.py"),
}


@pytest.mark.parametrize("name", ABOUT)
def test_what_the_work_is_about_is_not_what_its_check_runs(name: str, project: Path) -> None:
    run, path = ABOUT[name]
    assert run_by(project, run, change(path)) == []


def test_a_program_whose_output_the_check_expects_is_what_the_work_is_about(project: Path) -> None:
    expected = {"contains": "1"}
    assert run_by(project, "python3 app.py", change("app.py"), expect=expected) == []
    assert run_by(project, "sh tests/run.sh", change("tests/run.sh"), expect=expected) != []


@pytest.mark.parametrize(
    ("run", "made", "taking"),
    [
        ("python3 new.py", "new.py", False),
        ("python3 -m probe", "probe/__main__.py", True),
        ("python3 -c 'import probe'", "probe/__init__.py", True),
        ("python3 -c 'import other'", "other/__init__.py", False),
    ],
)
def test_a_new_file_counts_where_it_takes_the_place_of_another(
    run: str, made: str, *, taking: bool, project: Path
) -> None:
    assert run_by(project, run, change(made, made=True)) == ([made] if taking else [])


def test_what_a_block_of_the_plan_runs_is_found(project: Path) -> None:
    body = "```sh\npython3 probe.py\n```"
    assert run_by(project, "true", change("probe.py"), body=body) == ["probe.py"]
    assert run_by(project, "true", change("app.py"), body=body) == []


@pytest.mark.parametrize(
    ("run", "demanded"),
    [
        ("grep -q attrs pyproject.toml", {"pyproject.toml": {"attrs"}}),
        ("grep -qF '\"x\"' ./b.toml && grep -q x a", {"b.toml": {"x"}, "a": {"x"}}),
        ("! grep -q attrs pyproject.toml", {}),
        ("grep -q attrs pyproject.toml || true", {}),
        ("grep -vq attrs pyproject.toml", {}),
        ("grep -c attrs pyproject.toml", {}),
        ("grep -q attrs a b", {}),
        ("grep -q $WORD a", {}),
        ("cat attrs a", {}),
        ("grep -q 'attrs a", {}),
    ],
)  # fmt: skip
def test_what_a_check_looks_for_is_read_only_where_it_says_nothing_else(
    run: str, demanded: dict[str, set[str]], project: Path
) -> None:
    assert expected_texts(plan(project, run).verify, str(project)) == demanded


def test_a_search_that_shall_fail_demands_nothing(project: Path) -> None:
    item = plan(project, "grep -q attrs a", {"exit_code": 1})
    assert expected_texts(item.verify, str(project)) == {}
