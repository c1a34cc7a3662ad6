"""The fixed rules that a skill must satisfy (spec 10.4 step 2): findings, and never a judgement.

Scripts are parsed, never imported or run. The rules catch carelessness; they are no proof that a
script is harmless: what it may do is decided where it runs.
"""

import ast
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from urllib.parse import unquote

from silas.secret_patterns import SECRETS
from silas.skills.folder import SkillFile
from silas.skills.front import SkillMd
from silas.skills.models import SkillValidationConfig

_PROCESS = re.compile(
    r"\bstep\s+(?:\d|one|two)|(?:^|\s)1[.)]\s.*\s2[.)]\s|\bfirst\b[^.]*\bthen\b[^.]*\bthen\b"
    r"|\bfirst\b[^.]*\bthen\b[^.]*\bfinally\b",
    re.IGNORECASE,
)
"""Tells how instead of when: numbered steps, or first, then, finally."""

_LINK = re.compile(r"\]\(\s*<?([^)\s>#]+)")
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*:|/|#", re.IGNORECASE)
_SHELLS = frozenset({"os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput"})
_ENVIRONMENT = frozenset({"os.getenv", "os.environ.get", "os.environ.pop", "environ.get", "getenv"})


class SkillFinding(NamedTuple):
    """One rule that a skill breaks: the file, and in one sentence what to do."""

    path: str
    words: str

    def __str__(self) -> str:
        return f"{self.path}: {self.words}"


def check(
    skill_md: SkillMd, files: Sequence[SkillFile], rules: SkillValidationConfig
) -> tuple[SkillFinding, ...]:
    """Every rule that is broken, in the order of files; none means that the skill may be used."""
    paths = frozenset(file.path for file in files)
    findings = [*_description(skill_md, rules), *_references(skill_md, paths)]
    for file in files:
        findings += credentials(file)
        if file.path.endswith(".py"):
            findings += _script(file, skill_md, rules)
    return tuple(findings)


def _description(skill_md: SkillMd, rules: SkillValidationConfig) -> Iterator[SkillFinding]:
    text = skill_md.front.description
    least, most = rules.description_min_chars, rules.description_max_chars
    if not least <= len(text) <= most:
        yield SkillFinding(
            "SKILL.md",
            f"the description has {len(text)} characters; it must have {least} to {most}.",
        )
    if rules.fail_on_process_heavy_description and _PROCESS.search(text):
        yield SkillFinding(
            "SKILL.md", "the description tells steps; say when to use the skill, steps go below."
        )


def _references(skill_md: SkillMd, paths: frozenset[str]) -> Iterator[SkillFinding]:
    for script in skill_md.front.script_args:
        if script not in paths:
            yield SkillFinding(
                "SKILL.md", f"script_args names {ascii(script)[:200]}, which is not there."
            )
    icon = skill_md.front.ui.get("icon", "").removeprefix("./")
    linked = (unquote(link) for link in _LINK.findall(skill_md.body) if not _ADDRESS.match(link))
    for target in dict.fromkeys([*filter(None, [icon]), *linked]):
        path = target.removeprefix("./")
        if path not in paths and not any(p.startswith(path.rstrip("/") + "/") for p in paths):
            yield SkillFinding(
                "SKILL.md", f"it refers to {ascii(target)[:200]}, which is not there."
            )


def credentials(file: SkillFile) -> Iterator[SkillFinding]:
    """What in a file looks like a credential, of each kind the first."""
    text = file.raw.decode("utf-8", errors="replace")
    for kind, pattern in SECRETS:
        if found := pattern.search(text):
            line = text.count("\n", 0, found.start()) + 1
            yield SkillFinding(
                file.path, f"line {line} holds {kind}; keep it with `silas secrets`."
            )


def _script(
    file: SkillFile, skill_md: SkillMd, rules: SkillValidationConfig
) -> Iterator[SkillFinding]:
    try:
        tree = ast.parse(file.raw)
    except SyntaxError as error:
        yield SkillFinding(file.path, f"line {error.lineno or 1} is not Python: {error.msg}.")
        return
    except (ValueError, RecursionError, MemoryError):
        yield SkillFinding(file.path, "it cannot be read as Python.")
        return
    declared = " ".join(skill_md.front.requirements)
    for node in ast.walk(tree):
        name = _variable(node)
        if name is not None and rules.forbid_undeclared_env and not _says(declared, name):
            yield SkillFinding(
                file.path,
                f"it reads the environment variable {ascii(name)[:80]}, which is not declared in "
                "requirements.",
            )
        if _unsafe_shell(node):
            line = getattr(node, "lineno", 1)
            yield SkillFinding(
                file.path, f"line {line} gives a shell a text that is put together; use a list."
            )


def _says(declared: str, name: str) -> bool:
    return bool(name) and re.search(rf"\b{re.escape(name)}\b", declared) is not None


def _variable(node: ast.AST) -> str | None:
    """The environment variable that is read here, empty where it has no fixed name; else None."""
    if isinstance(node, ast.Subscript) and _dotted_name(node.value) in ("os.environ", "environ"):
        return _constant(node.slice)
    if isinstance(node, ast.Call) and _dotted_name(node.func) in _ENVIRONMENT:
        return _constant(node.args[0]) if node.args else ""
    return None


def _unsafe_shell(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call) or not node.args or isinstance(node.args[0], ast.Constant):
        return False
    shell = any(
        keyword.arg == "shell" and not _is(keyword.value, False) for keyword in node.keywords
    )
    return shell or _dotted_name(node.func) in _SHELLS


def _is(node: ast.expr, value: object) -> bool:
    return isinstance(node, ast.Constant) and node.value is value


def _constant(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _dotted_name(node: ast.expr) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    return ".".join([node.id, *reversed(parts)])
