"""No room of a wired turn is a null object, save what the configuration itself leaves out."""

from silas.testing import Harness

CHOSEN = {"NoVectors", "NoDrafts", "NoModeMemory"}
"""No embedding model by default, no drafts on a channel that cannot show them, and no form of
answer that is kept for a model which no configuration names."""


def rooms_of(thing: object, depth: int = 3) -> set[str]:
    """The class names of an object and of what it holds, as far as that is Silas's own."""
    found = {type(thing).__name__}
    held = getattr(thing, "__dict__", None)
    if depth and held is not None and type(thing).__module__.startswith("silas."):
        for part in held.values():
            found |= rooms_of(part, depth - 1)
    return found


async def test_no_room_of_a_wired_turn_is_a_null_object() -> None:
    # the test kit looks for no tools of the machine that it runs on; the product does
    settings = {"sandbox": {"tools": {"discover": True}}}
    async with Harness(settings=settings) as h:
        found = {name: rooms_of(h.ports[name]) for name in h.ports.names()}
    null = {
        f"{name}: {kind}"
        for name, kinds in found.items()
        for kind in kinds - CHOSEN
        if kind.startswith(("No", "Nothing")) and kind not in ("NoneType", "NonceStore")
    }
    assert null == set()
    assert "ContextManager" in found["context"]
    assert "SqlMemoryStore" in found["memory"]
    assert "PersonalityEngine" in found["persona"]
