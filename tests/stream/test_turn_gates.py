"""Gates of the configuration around a turn: what they stop, ask, rewrite and only note."""

from typing import Any

import pytest

from silas.agents import RouteDecision
from silas.cards import Card, GateCard
from silas.gates import EscalationAction, Gate, GateProvider, GateResult, GateRunner
from silas.stream.escalate import BLOCKED_WORDS, Escalator
from silas.testing import Harness, Ports, ScriptedChannel, ScriptedModel
from silas.types import OWNER
from tests.stream.kit import direct, entries_of, recorded, said, saying_yes, soon

REDIRECT = "I can't help with that. How else can I assist you?"


def gate(**changes: Any) -> dict[str, Any]:
    """A gate over answers that lets only lower case through."""
    return {
        "name": "lower",
        "on": "every_agent_response",
        "type": "regex",
        "config": {"pattern": r"\A[a-z .]+\Z"},
        "on_block": "polite_redirect",
        **changes,
    }


def on_input(**changes: Any) -> dict[str, Any]:
    """The same over messages."""
    return gate(on="every_user_message", **changes)


def a_house(
    gates: list[dict[str, Any]],
    *answers: str | RouteDecision,
    channel: ScriptedChannel | None = None,
    **options: Any,
) -> tuple[Harness, ScriptedModel]:
    routes = [direct(a) if isinstance(a, str) else a for a in answers]
    model = ScriptedModel(routes)
    settings = {"gates": {"system": gates}, **options.pop("settings", {})}
    harness = Harness(channel, models={"proxy": model}, settings=settings, **options)
    return harness, model


def escalating(escalations: dict[str, EscalationAction]) -> Ports:
    """A goal's escalations, as they will come with goals."""
    ports = Ports()
    ports.put("escalator", lambda _: Escalator(ports["audit"], escalations))
    return ports


@pytest.mark.proves("S5.1-1-BLOCK-ENDS-TURN", "S5.1.1-LOOKUP", "S5.1.1-RESPOND", "S11-SYSTEM-GATES")
async def test_an_input_gate_stops_a_message_with_the_words_of_its_escalation() -> None:
    harness, model = a_house([on_input()])
    async with harness as h:
        reply = await soon(h.silas.ask("SHOUTING"))
        (blocked,) = await entries_of(h, "gate_blocked")
        log = str(await recorded(h))
    assert (reply.text, reply.outcome) == (REDIRECT, "blocked")
    assert model.requests == []
    assert (blocked["gate"], blocked["sender_id"], blocked["escalation"]) == (
        "lower",
        OWNER,
        "respond",
    )
    assert "SHOUTING" not in log


@pytest.mark.parametrize("kind", ["string_match", "numeric_range", "regex"])
@pytest.mark.parametrize("moment", ["every_user_message", "every_agent_response"])
async def test_what_a_gate_stops_does_not_live_on_in_the_audit(moment: str, kind: str) -> None:
    text = "Card 4111 1111 1111 1111 'quoted'\n" + "and more " * 20
    strict = gate(on=moment, type=kind, config={"pattern": r"\Aok\Z"}, allowed_values=["ok"])
    harness, _ = a_house([strict], text)
    async with harness as h:
        reply = await soon(h.silas.ask(text))
        (blocked,) = await entries_of(h, "gate_blocked")
        log = str(await recorded(h))
    assert reply.text == REDIRECT
    assert blocked["reason"]
    assert "1111 1111" not in log  # four digits alone are in some id or digest now and then
    assert "quoted" not in log


@pytest.mark.proves(
    "S5.1-8-BLOCK-SUPPRESSES", "S5.1.1-RESPOND", "S5.1.1-SUPPRESSED-NOT-SENT", "S11-SYSTEM-GATES"
)
async def test_an_output_gate_sends_its_words_and_nothing_of_the_answer() -> None:
    channel = ScriptedChannel()
    harness, _ = a_house([gate()], "THE SECRET", channel=channel)
    async with harness as h:
        reply = await soon(h.silas.ask("tell me"))
        log = str(await recorded(h))
    assert channel.sent == [(OWNER, REDIRECT)]
    assert reply.outcome == "blocked"
    assert "THE SECRET" not in log


@pytest.mark.proves("S5.1-1-APPROVAL-ASKED", "S5.1-8-APPROVAL-ASKED")
@pytest.mark.parametrize("moment", ["every_user_message", "every_agent_response"])
@pytest.mark.parametrize("yes", [True, False])
async def test_a_gate_that_asks_lets_pass_what_the_owner_lets_pass(moment: str, yes: bool) -> None:
    def answer(card: Card[Any]) -> Any:
        return "approve" if yes else "block"

    channel = ScriptedChannel(answer)
    harness, model = a_house([gate(on=moment, type="approval_always")], "fine", channel=channel)
    async with harness as h:
        reply = await soon(h.silas.ask("may I?"))
        answers = await entries_of(h, "gate_answered")
    (card,) = channel.cards
    assert isinstance(card, GateCard)
    assert card.gate_name == "lower"
    assert card.safe == "block"
    assert [entry["answer"] for entry in answers] == ["approve" if yes else "block"]
    assert (reply.text, reply.outcome) == (("fine", "answered") if yes else (REDIRECT, "blocked"))
    assert len(model.requests) == (0 if moment == "every_user_message" and not yes else 1)


async def test_a_stranger_is_never_asked_about_his_own_message() -> None:
    asked: list[str] = []

    class Watching(ScriptedChannel):
        async def ask(self, to: str, card: Card[Any]) -> Any:
            asked.append(to)
            return await super().ask(to, card)

    harness, _ = a_house([on_input(type="approval_always")], "fine", channel=Watching(saying_yes))
    async with harness as h:
        await soon(h.silas.stream.handle(said(h, connection="stranger", channel="webhook")))
    assert asked == [OWNER]


async def test_nobody_is_asked_about_what_another_gate_blocks() -> None:
    channel = ScriptedChannel(saying_yes)
    asks = on_input(name="asks", type="approval_always")
    harness, _ = a_house([asks, on_input()], channel=channel)
    async with harness as h:
        reply = await soon(h.silas.ask("SHOUTING"))
    assert channel.cards == []
    assert reply.outcome == "blocked"


@pytest.mark.proves("S0.5.7-CONFIRMATION-FORCED")
async def test_a_question_forces_confirmation_for_the_rest_of_the_turn() -> None:
    channel = ScriptedChannel(saying_yes)
    harness, _ = a_house([on_input(type="approval_always")], "fine", channel=channel)
    async with harness as h:
        await soon(h.silas.ask("may I?"))
        (routed,) = await entries_of(h, "turn_routed")
    assert routed["mode"] == "confirm_only_when_required"


@pytest.mark.proves("S5.1-1-REWRITE-USED")
async def test_a_rewritten_message_is_what_the_model_sees() -> None:
    redact = on_input(config={"normalize": {"pattern": r"\d{4}", "replace": "[number]"}})
    harness, model = a_house([redact], "fine")
    async with harness as h:
        await soon(h.silas.ask("my code is 4711"))
        log = str(await recorded(h))
    assert "my code is [number]" in model.requests[0].text
    assert "is 4711" not in model.requests[0].text + log


@pytest.mark.proves("S5.1-8-REWRITE-SENT")
async def test_a_rewritten_answer_is_what_is_sent() -> None:
    redact = gate(config={"normalize": {"pattern": r"\d{4}", "replace": "[number]"}})
    channel = ScriptedChannel()
    harness, _ = a_house([redact], "the code is 4711", channel=channel)
    async with harness as h:
        reply = await soon(h.silas.ask("tell me"))
        log = str(await recorded(h))
    assert channel.sent == [(OWNER, "the code is [number]")]
    assert reply.text == "the code is [number]"
    assert "is 4711" not in log


REPHRASE = EscalationAction(
    action="suppress_and_rephrase",
    instruction="Whisper instead.",
    max_retries=2,
    fallback="give_up",
)
GIVE_UP = EscalationAction(action="respond", message="i have no words for that.")


@pytest.mark.proves("S5.1.1-SUPPRESSED-NOT-SENT")
@pytest.mark.parametrize(
    ("answers", "sent", "outcome"),
    [
        (("LOUD", "quiet"), "quiet", "answered"),
        (("LOUD", "LOUDER", "quiet"), "quiet", "answered"),
        (("LOUD", "LOUDER", "LOUDEST"), "i have no words for that.", "blocked"),
    ],
)
async def test_a_suppressed_answer_is_asked_for_again_as_often_as_allowed(
    answers: tuple[str, ...], sent: str, outcome: str
) -> None:
    channel = ScriptedChannel()
    harness, model = a_house(
        [gate(on_block="rephrase")],
        *answers,
        channel=channel,
        ports=escalating({"rephrase": REPHRASE, "give_up": GIVE_UP}),
    )
    async with harness as h:
        reply = await soon(h.silas.ask("hello"))
        log = str(await recorded(h))
    assert model.remaining == 0
    assert "Whisper instead." not in model.requests[0].text
    assert all("rephrase: Whisper instead." in asked.text for asked in model.requests[1:])
    assert all("LOUD" not in asked.text for asked in model.requests)
    assert channel.sent == [(OWNER, sent)]
    assert (reply.text, reply.outcome) == (sent, outcome)
    assert "LOUD" not in log


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (EscalationAction(action="respond", message="no.", fallback="give_up"), "no."),
        (EscalationAction(action="suppress_and_escalate", message="wait."), "wait."),
        (EscalationAction(action="suppress_and_escalate", fallback="give_up"), GIVE_UP.message),
        (EscalationAction(action="transfer_to_queue", queue="desk", message="hold."), "hold."),
        (EscalationAction(action="escalate_human"), BLOCKED_WORDS),
        (EscalationAction(action="retry", fallback="give_up"), GIVE_UP.message),
        (EscalationAction(action="report", fallback="nowhere"), BLOCKED_WORDS),
    ],
)
@pytest.mark.parametrize("moment", ["every_user_message", "every_agent_response"])
async def test_every_escalation_ends_in_its_words_or_its_fallbacks(
    action: EscalationAction, words: str, moment: str
) -> None:
    harness, _ = a_house(
        [gate(on=moment, on_block="own")],
        *["LOUD"] * 3,
        ports=escalating({"own": action, "give_up": GIVE_UP}),
    )
    async with harness as h:
        reply = await soon(h.silas.ask("LOUD"))
    assert (reply.text, reply.outcome) == (words, "blocked")


@pytest.mark.proves("S5.1.1-UNKNOWN-REPORTS")
async def test_an_escalation_nobody_knows_is_a_report_and_on_record() -> None:
    harness, _ = a_house([on_input(on_block="polite_redirekt")])
    async with harness as h:
        reply = await soon(h.silas.ask("LOUD"))
        (unknown,) = await entries_of(h, "escalation_unknown")
        (report,) = await entries_of(h, "escalation_reported")
    assert reply.text == BLOCKED_WORDS
    assert unknown["name"] == "polite_redirekt"
    assert (report["gate"], report["wanted"]) == ("lower", "report")


async def test_the_owner_is_told_of_a_report_and_the_stranger_no_rule() -> None:
    channel = ScriptedChannel()
    harness, _ = a_house([on_input(on_block="report")], channel=channel)
    async with harness as h:
        await soon(h.silas.stream.handle(said(h, "LOUD", "stranger")))
    told = dict(channel.sent)
    assert told["stranger"] == BLOCKED_WORDS
    assert "'lower' stopped a turn of stranger" in told[OWNER]
    assert "LOUD" not in told[OWNER]


@pytest.mark.proves("S5.1.1-LOOKUP")
async def test_a_goals_own_escalation_goes_before_the_built_in_of_that_name() -> None:
    own = EscalationAction(action="respond", message="our own words.")
    harness, _ = a_house([on_input()], ports=escalating({"polite_redirect": own}))
    async with harness as h:
        assert (await soon(h.silas.ask("LOUD"))).text == "our own words."


async def test_a_gate_without_its_provider_blocks() -> None:
    harness, model = a_house([on_input(provider="guardrails_ai", check="jailbreak")])
    async with harness as h:
        reply = await soon(h.silas.ask("hello"))
        (unavailable,) = await entries_of(h, "gate_unavailable")
    assert (reply.text, reply.outcome) == (REDIRECT, "blocked")
    assert model.requests == []
    assert unavailable["provider"] == "guardrails_ai"


class Critic:
    """Rates everything as bad, and would rather stop it."""

    async def check(self, gate: Gate, context: dict[str, Any]) -> GateResult:
        return GateResult(
            gate_name=gate.name,
            lane=gate.lane,
            action="block",
            reason="bad",
            score=0.1,
            flags=("rude",),
            modified_context={"message": "changed", "response": "changed"},
        )


def with_critic() -> Ports:
    ports = Ports()
    ports.put("gates", lambda _: GateRunner({GateProvider.llm: Critic()}, ports["audit"], 32))
    return ports


@pytest.mark.proves("S5.1-1-QUALITY-LOGGED", "S5.1.1-POLICY-ONLY")
@pytest.mark.parametrize(
    ("moment", "event"),
    [
        ("every_user_message", "quality_gate_input"),
        ("every_agent_response", "quality_gate_output"),
    ],
)
async def test_a_quality_gate_is_noted_and_changes_nothing(moment: str, event: str) -> None:
    critic = gate(on=moment, provider="llm", on_block="polite_redirect")
    harness, model = a_house([critic], "FINE", ports=with_critic())
    async with harness as h:
        reply = await soon(h.silas.ask("HELLO"))
        (noted,) = await entries_of(h, event)
        assert await entries_of(h, "gate_blocked") == []
    assert (reply.text, reply.outcome) == ("FINE", "answered")
    assert "HELLO" in model.requests[0].text
    assert (noted["gate"], noted["score"], noted["flags"]) == ("lower", 0.1, ["rude"])


async def test_a_promoted_quality_gate_is_policy_and_blocks_without_its_provider() -> None:
    harness, _ = a_house([on_input(provider="llm", promote_to_policy=True)])
    async with harness as h:
        assert (await soon(h.silas.ask("hello"))).outcome == "blocked"


@pytest.mark.parametrize(("limit", "outcome"), [(2, "answered"), (1, "blocked")])
async def test_gate_evaluations_are_counted_over_the_whole_turn(limit: int, outcome: str) -> None:
    any_text = {"pattern": r"\A"}
    gates = [on_input(name="in", config=any_text), gate(name="out", config=any_text)]
    settings = {"limits": {"max_gate_evals_per_turn": limit}}
    harness, _ = a_house(gates, "fine", "fine", settings=settings)
    async with harness as h:
        for _ in range(2):  # each turn has its own count
            reply = await soon(h.silas.ask("hello"))
            assert reply.outcome == outcome


async def test_a_reason_that_quotes_is_recorded_without_the_quotation() -> None:
    harness, _ = a_house([on_input(type="string_match", config={}, allowed_values=["x"])])
    async with harness as h:
        await soon(h.silas.ask("a" * 200))
        (blocked,) = await entries_of(h, "gate_blocked")
    assert blocked["reason"] == "the text is not among the allowed values"
