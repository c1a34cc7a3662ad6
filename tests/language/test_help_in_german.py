"""The help of a German Silas names examples in German, and understands each of them."""

import pytest

from silas.agents.runbook.about import AT_ONCE
from silas.language import tr
from silas.testing import Harness
from tests.stream.kit import soon

GERMAN = {"language": "de"}


async def test_the_help_names_examples_in_german() -> None:
    async with Harness(settings=GERMAN) as h:
        told = (await soon(h.silas.ask("hilfe"))).text
    assert "rechnen (sag: „was ist 17 % von 240“)" in told
    assert "merken (sag: „merk dir, dass mein Pass in der blauen Schublade liegt“)" in told
    assert not [english for _, english in AT_ONCE if f'"{english}"' in told]


@pytest.mark.parametrize("english", [example for _, example in AT_ONCE])
async def test_each_example_of_the_help_is_understood_as_it_is_told(english: str) -> None:
    async with Harness(settings=GERMAN) as h:
        remembered = tr(next(one for _, one in AT_ONCE if one.startswith("remember")))
        await soon(h.silas.ask(remembered))
        reply = await soon(h.silas.ask(tr(english)))
    assert reply.outcome == "answered"
    assert "verstehe ich nicht" not in reply.text
