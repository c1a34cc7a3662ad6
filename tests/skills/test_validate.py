"""Fixed rules about a skill: what breaks one is named, and nothing of it is run."""

from pathlib import Path

import pytest

from silas.skills.loader import parse_skill
from silas.skills.models import SkillValidationConfig
from silas.skills.validate import check
from tests.skills.kit import put_skill, skill_md

PLAIN = skill_md("excel")

# (SKILL.md, scripts/run.py) and what the finding says; nothing means that the skill is valid
RULES: dict[str, tuple[str, str, str]] = {
    "a plain script": (PLAIN, "import json\nprint(json.dumps(1))\n", ""),
    "no Python": (PLAIN, "def (:\n", "line 1 is not Python"),
    "null bytes": (PLAIN, "a = 1\0\n", "Python"),
    "brackets without end": (PLAIN, "(" * 5000, "Python"),
    "numbered steps": (
        skill_md("excel", description='"Step 1 open the file, step 2 read the table."'),
        "",
        "tells steps",
    ),
    "first, then, finally": (
        skill_md("excel", description="First open it, then read the table, finally close it."),
        "",
        "tells steps",
    ),
    "a word that only looks so": (
        skill_md("excel", description="Use it first of all for tables with footsteps in them."),
        "",
        "",
    ),
    "an undeclared variable": (PLAIN, "import os\nos.environ['TOKEN']\n", "variable 'TOKEN'"),
    "an undeclared variable, asked for": (PLAIN, "import os\nos.getenv('A_B')\n", "'A_B'"),
    "a variable whose name is made": (PLAIN, "import os\nos.environ.get('A' + x)\n", "variable ''"),
    "a declared variable": (
        skill_md("excel", requirements="[environment variable TOKEN]"),
        "import os\nos.environ['TOKEN']\n",
        "",
    ),
    "half of a declared name": (
        skill_md("excel", requirements="TOKENS"),
        "import os\nos.environ['TOKEN']\n",
        "variable 'TOKEN'",
    ),
    "a text for a shell": (
        PLAIN,
        "import subprocess\nsubprocess.run(f'ls {x}', shell=True)\n",
        "line 2 gives a shell",
    ),
    "os.system": (PLAIN, "import os\nos.system('ls ' + x)\n", "line 2 gives a shell"),
    "a fixed command": (PLAIN, "import os\nos.system('ls')\n", ""),
    "no shell": (PLAIN, "import subprocess\nsubprocess.run([x], shell=False)\n", ""),
    "a private key": (PLAIN, "k = '''-----BEGIN RSA PRIVATE KEY-----'''\n", "a private key"),
    "an API key": (PLAIN, f"k = 'sk-live-{'a1' * 12}'\n", "an API key"),
    "an AWS key": (PLAIN, f"k = 'AKIA{'A' * 16}'\n", "an AWS key"),
    "a link to nothing": (
        skill_md("excel", "See [more](references/gone.md)."),
        "",
        "refers to 'references/gone.md'",
    ),
    "links that are elsewhere": (
        skill_md("excel", "See [a](https://example.com/x) and [b](#top) and [c](scripts/run.py)."),
        "",
        "",
    ),
    "arguments of no script": (
        skill_md("excel", script_args="{}").replace(
            "script-args: {}", "script_args: {scripts/gone.py: {path: {type: string}}}"
        ),
        "",
        "names 'scripts/gone.py'",
    ),
}


@pytest.mark.proves("S11-DETERMINISTIC-LINT")
@pytest.mark.parametrize("name", RULES)
def test_each_rule_names_what_breaks_it_and_nothing_else(name: str, tmp_path: Path) -> None:
    text, script, why = RULES[name]
    folder = put_skill(tmp_path, "excel", text, {"scripts/run.py": script})
    findings = check(*parse_skill(folder), SkillValidationConfig())
    assert bool(findings) is bool(why)
    assert why in " ".join(map(str, findings))
    assert all(str(finding).isprintable() for finding in findings)


def test_a_rule_that_is_turned_off_finds_nothing(tmp_path: Path) -> None:
    text = skill_md("excel", description='"Step 1 open the file, step 2 read the table."')
    folder = put_skill(tmp_path, "excel", text, {"run.py": "import os\nos.getenv('TOKEN')\n"})
    rules = SkillValidationConfig(
        fail_on_process_heavy_description=False, forbid_undeclared_env=False
    )
    assert check(*parse_skill(folder), rules) == ()


def test_nothing_of_a_skill_is_run_when_it_is_read(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    script = f"import pathlib\npathlib.Path({str(mark)!r}).touch()\n"
    names = ("__init__.py", "scripts/run.py", "conftest.py", "sitecustomize.py")
    folder = put_skill(tmp_path / "skills", "excel", files=dict.fromkeys(names, script))
    assert check(*parse_skill(folder), SkillValidationConfig()) == ()
    assert not mark.exists()
