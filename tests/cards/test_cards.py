"""Every card there is: its anatomy, and that silence never means yes."""

from typing import Any

import pytest
from pydantic import ValidationError

from silas.cards import Action, Card, CardChannel
from silas.cards import models as card_models
from silas.cards.models import (
    ALL_CARDS,
    DecisionAnswer,
    DraftAnswer,
    PlanAnswer,
    SecureInputAnswer,
    SecureInputCard,
)
from silas.testing.cards import a_card
from silas.testing.channels import ScriptedChannel

# what each kind's silence says, in the words of its own answers
_NO_DECISION = {"selected_value": None, "freetext": None, "approved": False, "signed": False}
_SAFE: dict[str, Any] = {
    "PlanCard": {"verdict": "declined"},
    "GateCard": "block",
    "ToolCallCard": "decline",
    "HeldCard": "keep",
    "CheckpointCard": "stop here",
    "BatchReviewCard": {"verdict": "decline", "selected_item_ids": ()},
    "DraftReviewCard": {"verdict": "reject", "edited_text": None},
    "DecisionCard": _NO_DECISION,
    "SuggestionCard": {
        "selected_value": None,
        "freetext": None,
        "approved": False,
        "signed": False,
    },
    "AutonomyThresholdCard": "decline",
    "SecureInputCard": {"ref_id": "ref", "success": False},
    "ConnectionSetupCard": {"step_type": "device_code", "action": "cancel"},
    "PermissionEscalationCard": {
        "selected_value": None,
        "freetext": None,
        "approved": False,
        "signed": False,
    },
    "ConnectionFailureCard": {
        "selected_value": None,
        "freetext": None,
        "approved": False,
        "signed": False,
    },
}


@pytest.mark.proves("S8.1-CARDS-END-SAFELY")
def test_the_list_of_cards_is_complete() -> None:
    defined = {name for name in vars(card_models) if name.endswith("Card")} - {"Card"}
    assert {cls.__name__ for cls in ALL_CARDS} == defined
    assert {cls.__name__ for cls in ALL_CARDS} == set(_SAFE)


@pytest.mark.proves("S8.1-CARDS-END-SAFELY")
@pytest.mark.parametrize("kind", ALL_CARDS)
def test_silence_declines_blocks_or_dismisses(kind: type[Card[Any]]) -> None:
    safe = a_card(kind).safe
    assert (safe if isinstance(safe, str) else safe.model_dump()) == _SAFE[kind.__name__]


@pytest.mark.proves("S8.1-CARDS-END-SAFELY")
@pytest.mark.parametrize("kind", ALL_CARDS)
def test_a_card_whose_silence_would_agree_cannot_be_made(kind: type[Card[Any]]) -> None:
    yes = a_card(kind).actions[0].value
    with pytest.raises(ValidationError, match="does not decline"):
        a_card(kind, safe=yes)
    with pytest.raises(ValidationError, match="does not decline"):
        # nor by calling the yes a decline
        a_card(kind, safe=yes, actions=[Action[Any](label="x", value=yes, role="alternative")])


@pytest.mark.parametrize(
    ("kind", "safe"),
    [
        ("PlanCard", PlanAnswer(verdict="conditional")),
        ("PlanCard", PlanAnswer(verdict="edit_requested")),
        ("DecisionCard", DecisionAnswer(approved=True)),
        ("DraftReviewCard", DraftAnswer(verdict="edit", edited_text="x")),
        ("AutonomyThresholdCard", "tighten_now"),
        ("CheckpointCard", "something else"),
    ],
)
def test_a_safe_answer_that_is_not_offered_must_be_a_no_of_its_kind(kind: str, safe: Any) -> None:
    cls = next(card for card in ALL_CARDS if card.__name__ == kind)
    with pytest.raises(ValidationError, match="does not decline"):
        a_card(cls, safe=safe)


@pytest.mark.proves("S8.1-CARDS-END-SAFELY")
@pytest.mark.parametrize("kind", [card for card in ALL_CARDS if not card.own_words])
def test_an_approval_dressed_as_a_decline_is_refused(kind: type[Card[Any]]) -> None:
    yes = a_card(kind).actions[0].value
    with pytest.raises(ValidationError, match="does not decline"):
        a_card(kind, safe=yes, actions=[Action[Any](label="Leave", value=yes, role="decline")])


@pytest.mark.proves("S0.5.3-REQUIRED-FIELDS")
@pytest.mark.parametrize("kind", ALL_CARDS)
def test_a_card_has_its_required_fields_and_cannot_change(kind: type[Card[Any]]) -> None:
    card = a_card(kind)
    for empty in ("intent", "rationale"):
        with pytest.raises(ValidationError):
            a_card(kind, **{empty: ""})
    with pytest.raises(ValidationError):
        a_card(kind, actions=())
    with pytest.raises(ValidationError):
        a_card(kind, timeout_seconds=0)
    with pytest.raises(ValidationError, match="frozen"):
        card.intent = "other"  # pyright: ignore[reportAttributeAccessIssue] - that is the point


@pytest.mark.proves("S0.5.3-REQUIRED-FIELDS")
@pytest.mark.parametrize("kind", ALL_CARDS)
@pytest.mark.parametrize("field", ["intent", "risk", "rationale", "actions", "safe"])
def test_a_card_without_a_required_field_cannot_be_made(kind: type[Card[Any]], field: str) -> None:
    fields = {name: getattr(a_card(kind), name) for name in kind.model_fields}
    del fields[field]
    with pytest.raises(ValidationError, match=field):
        kind.model_validate(fields)


@pytest.mark.proves("S0.5.3-REQUIRED-FIELDS")
def test_an_action_without_its_consequence_cannot_be_made() -> None:
    with pytest.raises(ValidationError, match="label"):
        Action[str](label="", value="go on")
    with pytest.raises(ValidationError, match="label"):
        Action[str].model_validate({"value": "go on"})


@pytest.mark.proves("S4.1.1-SECURE-ANSWER-EMPTY")
def test_the_answer_to_a_secure_input_has_no_place_for_anything_of_the_secret() -> None:
    assert set(SecureInputAnswer.model_fields) == {"ref_id", "success"}
    assert SecureInputAnswer.model_validate({"ref_id": "ref"}).success is False
    for more in ("value", "length", "hash", "hint"):
        with pytest.raises(ValidationError, match=more):
            SecureInputAnswer.model_validate({"ref_id": "ref", "success": True, more: "s3cret"})
    offered = [action.value for action in a_card(SecureInputCard).actions]
    assert all(isinstance(answer, SecureInputAnswer) for answer in offered)


@pytest.mark.proves("S0.5.3-ACTION-ORDER")
@pytest.mark.parametrize(
    ("roles", "valid"),
    [
        (["recommended", "alternative", "decline"], True),
        (["alternative", "decline"], True),
        (["decline"], True),
        (["decline", "recommended"], False),
        (["alternative", "recommended", "decline"], False),
        (["recommended", "decline", "alternative"], False),
    ],
)
def test_actions_go_recommended_alternative_decline(roles: list[Any], valid: bool) -> None:
    checkpoint = next(card for card in ALL_CARDS if card.__name__ == "CheckpointCard")
    actions = [Action[Any](label=r, value=f"{r}!", role=r) for r in roles]
    if valid:
        assert a_card(checkpoint, actions=actions, safe="decline!").actions == tuple(actions)
        return
    with pytest.raises(ValidationError, match="actions go"):
        a_card(checkpoint, actions=actions, safe="decline!")


class TestTheScriptedChannel:
    async def test_it_is_a_card_channel_that_declines_unless_told_otherwise(self) -> None:
        channel = ScriptedChannel()
        assert isinstance(channel, CardChannel)
        for kind in ALL_CARDS:
            card = a_card(kind)
            assert await channel.ask("owner", card) == card.safe
        assert [type(card) for card in channel.cards] == list(ALL_CARDS)

    async def test_it_answers_as_its_function_says_and_records_what_was_sent(self) -> None:
        channel = ScriptedChannel(lambda card: card.actions[0].value)
        gate = next(card for card in ALL_CARDS if card.__name__ == "GateCard")
        assert await channel.ask("owner", a_card(gate)) == "approve"
        await channel.send("owner", "hello")
        assert channel.texts == ["hello"]
        assert [message async for message in channel.listen()] == []
