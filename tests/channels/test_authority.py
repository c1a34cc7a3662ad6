"""Channels bring answers; what an answer authorises is made elsewhere (spec 4.1.1)."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grimp
import pytest

import silas
from silas.cards import Card
from silas.cards.models import ALL_CARDS
from silas.types import FrozenModel

PACKAGE = Path(silas.__file__).parent


@pytest.fixture(scope="module")
def imports() -> grimp.ImportGraph:
    return grimp.build_graph("silas", cache_dir=None)


@pytest.mark.proves("S4.1.1-CHANNELS-NEVER-SIGN")
@pytest.mark.parametrize("room", ["silas.keys", "silas.approval.engine"])
@pytest.mark.parametrize("asker", ["silas.channels", "silas.cards"])
def test_no_channel_can_reach_a_key_or_the_engine_that_signs(
    imports: grimp.ImportGraph, asker: str, room: str
) -> None:
    assert imports.find_shortest_chain("silas.wiring.parts", "silas.approval.engine")
    assert not imports.find_shortest_chains(asker, room, as_packages=True)


def _makers_of(name: str) -> Iterator[str]:
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text("utf-8")
        for node in ast.walk(ast.parse(text)) if name in text else ():
            if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == name:
                yield str(path.relative_to(PACKAGE))


@pytest.mark.proves("S4.1.1-CHANNELS-NEVER-SIGN")
def test_tokens_are_made_in_one_place() -> None:
    makers = {path for path in _makers_of("ApprovalToken") if not path.startswith("testing/")}
    assert makers == {"approval/engine.py"}


@pytest.mark.proves("S4.1.1-CHANNELS-NEVER-SIGN")
@pytest.mark.parametrize("kind", ALL_CARDS)
def test_no_answer_carries_a_signature(kind: type[Card[Any]]) -> None:
    answer = kind.model_fields["safe"].annotation
    fields = (
        answer.model_fields if isinstance(answer, type) and issubclass(answer, FrozenModel) else {}
    )
    assert not {"signature", "token", "nonce"} & set(fields)
    assert not [name for name, field in fields.items() if field.annotation is bytes]
