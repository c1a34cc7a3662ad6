"""What a setting or a worker's file has wrong is told in the owner's language."""

import ast
import inspect
import sys
import typing
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import BaseModel

from scripts.refusals import shape, template
from silas.config import SilasConfig
from silas.language import refusal_words
from silas.language.setting_faults import SETTING_FAULTS
from tests.support.command import environment, run, silas

ELSEWHERE = {"silas.canonical", "silas.gates.models"}
"""What no setting is read by alone: JSON, and a gate's expectation, which plans have as well."""

WORKERS = {
    "begins": ("x", "die Datei muss mit einer Zeile beginnen, in der nur --- steht"),
    "empty": ("---\n---\nhi", "der Kopf ist leer; ein Worker braucht einen Namen."),
    "silent": ("---\nname: silent\ndescription: x\n---\n", "stehen keine Anweisungen."),
    "named": ("---\nname: No\ndescription: x\n---\nhi", "`name`: muss aus Kleinbuchstaben"),
    "bare": ("---\nname: bare\ndescription: ''\n---\nhi", "`description`: darf nicht leer sein."),
    "other": ("---\nname: another\ndescription: x\n---\nhi", "ist die Datei von „another“"),
    "lead": (
        "---\nname: lead\ndescription: x\ndelegates: [begins]\n---\nhi",
        "Die Datei des Workers „begins“, an den „lead“ delegieren darf, ist nicht brauchbar: ",
    ),
    "alone": (
        "---\nname: alone\ndescription: x\ndelegates: [nobody]\n---\nhi",
        "Für den Worker „nobody“, an den „alone“ delegieren darf, gibt es keine Datei in ",
    ),
    "tool": (
        "---\nname: tool\ndescription: x\napproval: {z: {blocked: true}}\n---\nhi",
        "es gibt kein Werkzeug `z`; der Worker hat keine.",
    ),
}


def test_a_workers_file_is_told_in_german_where_workers_are_listed(tmp_path: Path) -> None:
    env = environment(tmp_path, SILAS_LANGUAGE="de")
    folder = tmp_path / "workers"
    folder.mkdir()
    for name, (text, _) in WORKERS.items():
        (folder / f"{name}.worker").write_text(text, encoding="utf-8")
    listed = run(silas("workers", "list"), {**env, "SILAS_WORKERS_DIR": str(folder)}).out
    rows = {line.split()[0]: line for line in listed.splitlines()}
    for name, (_, said) in WORKERS.items():
        assert said in rows[name]


def test_a_setting_that_opens_silas_to_others_is_told_in_german(tmp_path: Path) -> None:
    env = environment(tmp_path, SILAS_LANGUAGE="de", SILAS_CHANNELS__WEB__HOST="0.0.0.0")
    said = run(silas("config", "validate"), env)
    assert "host 0.0.0.0 ist von anderen Rechnern aus erreichbar: setze auth_token" in (
        said.out + said.err
    )


def _sections(of: object, seen: set[type[BaseModel]]) -> Iterator[type[BaseModel]]:
    if inspect.isclass(of) and issubclass(of, BaseModel) and of not in seen:
        seen.add(of)
        yield of
        for field in of.model_fields.values():
            yield from _sections(field.annotation, seen)
    for part in typing.get_args(of):
        yield from _sections(part, seen)


def _said() -> Iterator[str]:
    """What a section's own validators raise, of its module and of those it calls."""
    modules = {sys.modules[one.__module__] for one in _sections(SilasConfig, set())}
    called = {
        sys.modules[value.__module__]
        for module in modules
        for value in vars(module).values()
        if inspect.isfunction(value) and value.__module__.startswith("silas.")
    }
    for module in {one for one in modules | called if one.__name__ not in ELSEWHERE}:
        for node in ast.walk(ast.parse(inspect.getsource(module))):
            made = node.exc if isinstance(node, ast.Raise) else None
            if isinstance(made, ast.Call) and ast.unparse(made.func) == "ValueError":
                yield template(made.args[0])


def test_every_sentence_of_a_section_of_the_configuration_has_a_german_one() -> None:
    known = {shape(one) for one in SETTING_FAULTS} | {""}  # of what is no text in the source
    said = {shape(one) for one in _said()}
    assert len(said) > 30
    assert said - known == set()


@pytest.mark.usefixtures("german")
@pytest.mark.parametrize("sentence", SETTING_FAULTS)
def test_a_settings_sentence_is_told_behind_its_key(sentence: str) -> None:
    told = refusal_words(f"section.key: {sentence} (x.yaml, line 3).")
    assert told.startswith("section.key: ")
    assert told.endswith(" (x.yaml, Zeile 3).")
    assert sentence not in told
