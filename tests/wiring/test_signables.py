"""What a signer apart signs, what it asks, and what it refuses without a question."""

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silas.approval import ApprovalScope, ApprovalToken, ApprovalVerdict, token_bytes
from silas.approval.models import SIGNED_FIELDS
from silas.approval.rules import LIMITS, SPAWN_POLICY
from silas.audit.log import AuditLog
from silas.audit.models import ACCEPTANCE_DOMAIN, CHECKPOINT_DOMAIN
from silas.canonical import canonical_bytes, sha256_hex
from silas.cards import ChannelMessage, message_bytes
from silas.db import Database
from silas.errors import ConfigError
from silas.keys.signed_heads import SignedHead, SignedHeads
from silas.keys.signer_server import SigningRuling
from silas.language.calendar import day_words
from silas.memory.bundle_lines import (
    BUNDLE_DOMAIN,
    SignedBundle,
    bundle_bytes,
    read_signed_bundle,
)
from silas.plans import plan_bytes, subject_of
from silas.services.signer.signables import (
    Signables,
    read_acceptance,
    read_approval,
    read_checkpoint,
    read_message,
)
from silas.skills.approved import Installation
from silas.testing import MockClock, a_plan, a_signer
from silas.testing.approval import a_token
from silas.tools.models import (
    call_subject,
    validated_call,
)
from silas.work.batches.models import FileIdentity, FileMove, Folder, item_id_of
from silas.work.changes.held_store import changes_id

CLOCK = MockClock()
HASH = sha256_hex(b"anything")
READERS: tuple[Callable[[bytes], object], ...] = (
    read_approval,
    read_message,
    read_checkpoint,
    read_signed_bundle,
    read_acceptance,
)


@pytest.fixture
def service(tmp_path: Path) -> Signables:
    return Signables(CLOCK, SignedHeads(tmp_path / "head.json"))


def claims(**overrides: Any) -> ApprovalToken:
    return a_token(a_signer(), CLOCK, **overrides)


def a_message(text: str = "hello") -> bytes:
    message = ChannelMessage(channel="cli", sender_id="owner", text=text, timestamp=CLOCK.now())
    return message_bytes(message, "nonce")


def a_checkpoint(seq: int, entry_hash: str = HASH) -> bytes:
    body = {"at": CLOCK.now().isoformat(), "entry_hash": entry_hash, "seq": seq}
    return CHECKPOINT_DOMAIN + canonical_bytes(body)


A_BUNDLE = bundle_bytes(SignedBundle(3, HASH, "2026-01-02T03:04:05Z"))


def kinds(data: bytes) -> list[bool]:
    return [read(data) is not None for read in READERS]


# what the bytes are -------------------------------------------------------------------------------
class Overheard:
    """A signer that keeps what it was asked to sign."""

    def __init__(self) -> None:
        self.real = a_signer()
        self.public_key, self.verify = self.real.public_key, self.real.verify
        self.heard: list[bytes] = []

    def sign(self, data: bytes) -> bytes:
        self.heard.append(data)
        return self.real.sign(data)


async def test_each_kind_is_known_as_its_maker_writes_it(tmp_path: Path) -> None:
    signer, db = Overheard(), Database(tmp_path / "silas.db", CLOCK)
    try:
        db.migrate("silas.audit")
        log = AuditLog(db, CLOCK, signer)
        await log.log("stream_started", channel="cli")
        await log.write_checkpoint()
    finally:
        db.close()
    (checkpoint,) = signer.heard
    assert kinds(token_bytes(claims(conditions={"a": [1, None]}))) == [
        True,
        False,
        False,
        False,
        False,
    ]
    assert kinds(a_message("any \u202e text")) == [False, True, False, False, False]
    assert kinds(checkpoint) == [False, False, True, False, False]
    assert kinds(A_BUNDLE) == [False, False, False, True, False]


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
_TOKEN = json.loads(token_bytes(claims()))
_MEMBERS: dict[str, Any] = {
    **_TOKEN,
    **{"text": "hello", "timestamp": CLOCK.now().isoformat()},
    **{"at": CLOCK.now().isoformat(), "entry_hash": HASH, "seq": 3},
    **{"was_entry_hash": HASH, "was_seq": 4},
    **{"memories": 3, "digest": HASH, "exported_at": CLOCK.now().isoformat()},
}
_NAMES = (
    st.just(tuple(SIGNED_FIELDS))
    | st.just(("text", "timestamp", "nonce"))
    | st.just(("at", "entry_hash", "seq"))
    | st.just(("at", "entry_hash", "seq", "was_entry_hash", "was_seq"))
    | st.just(("memories", "digest", "exported_at"))
    | st.lists(st.sampled_from(sorted(_MEMBERS)), unique=True).map(tuple)
)
_PREFIXES = st.sampled_from(
    [b"", CHECKPOINT_DOMAIN, ACCEPTANCE_DOMAIN, CHECKPOINT_DOMAIN * 2, BUNDLE_DOMAIN, b" ", b"\n"]
)


@st.composite
def nearly(draw: st.DrawFn) -> bytes:
    """Bytes of one of the kinds, or with some of its members exchanged, missing or foreign."""
    members = {name: _MEMBERS[name] for name in draw(_NAMES)}
    members |= draw(st.dictionaries(st.sampled_from(sorted(_MEMBERS)), _JSON, max_size=1))
    try:
        body = canonical_bytes(members)
    except ValueError:
        body = json.dumps(members).encode()
    return draw(_PREFIXES) + body + draw(st.sampled_from([b"", b"\n", b"{}"]))


@given(st.binary() | nearly() | st.builds(bytes.__add__, _PREFIXES, st.binary()))
def test_no_bytes_are_of_two_kinds(data: bytes) -> None:
    assert sum(kinds(data)) <= 1


@given(nearly())
def test_what_is_read_is_written_again_to_the_same_bytes(data: bytes) -> None:
    token, message, bundle = read_approval(data), read_message(data), read_signed_bundle(data)
    if bundle is not None:
        assert bundle_bytes(bundle) == data
    if token is not None:
        assert token_bytes(token) == data
    if message is not None:
        assert message_bytes(message, json.loads(data)["nonce"]) == data


_SIGNED = token_bytes(claims())
_NO_KIND = {
    "nothing": b"",
    "text": b"hello",
    "a number": b"1",
    "white space": _SIGNED + b" ",
    "another order": json.dumps(_TOKEN, sort_keys=False).encode(),
    "a name twice": _SIGNED.replace(b'"nonce":', b'"nonce":"x","nonce":', 1),
    "a member more": canonical_bytes({**_TOKEN, "extra": 1}),
    "a member less": canonical_bytes({k: v for k, v in _TOKEN.items() if k != "nonce"}),
    "another type": canonical_bytes({**_TOKEN, "max_executions": "1"}),
    "no hash": canonical_bytes({**_TOKEN, "plan_hash": "x"}),
    "no nonce": canonical_bytes({**_TOKEN, "nonce": ""}),
    "no work item": canonical_bytes({**_TOKEN, "work_item_id": ""}),
    "another strength": canonical_bytes({**_TOKEN, "approval_strength": "none"}),
    "no zone": canonical_bytes({**_TOKEN, "issued_at": "2026-01-01T00:00:00"}),
    "not a number": _SIGNED.replace(b'"conditions":{}', b'"conditions":{"a":NaN}'),
    "too deep": b'{"conditions":' + b"[" * 100_000,
    "a message without nonce": a_message().replace(b'"nonce":"nonce"', b'"nonce":""'),
    "a checkpoint before the first": a_checkpoint(-1),
    "a checkpoint of yes": a_checkpoint(1).replace(b'"seq":1', b'"seq":true'),
    "a checkpoint of no hash": a_checkpoint(1, "x"),
    "a checkpoint without its domain": a_checkpoint(1)[len(CHECKPOINT_DOMAIN) :],
}


@pytest.mark.parametrize("name", _NO_KIND)
def test_what_is_none_of_them_is_refused_without_a_question(name: str, service: Signables) -> None:
    ruling = service.judge(_NO_KIND[name], plan_bytes(a_plan()))
    assert ruling.refusal
    assert not ruling.question


# approvals ----------------------------------------------------------------------------------------
def about(item: Any, **overrides: Any) -> tuple[bytes, bytes]:
    subject = subject_of(item)
    token = claims(**{"plan_hash": subject.digest, "work_item_id": subject.id, **overrides})
    return token_bytes(token), subject.canonical


def test_a_plan_is_asked_about_with_everything_that_is_signed(service: Signables) -> None:
    data, shown = about(a_plan(title="Tidy up"), conditions={"not_after": "2030-01-01T00:00:00Z"})
    ruling = service.judge(data, shown)
    assert not ruling.refusal
    for text in ("Tidy up", f"sha256:{sha256_hex(shown)}", "2030-01-01", "once", "task-example"):
        assert text in ruling.question


_LATER = CLOCK.now() + timedelta(seconds=20)
_GOAL = a_plan(type="goal", schedule="0 9 * * *")
_STANDING = {SPAWN_POLICY: subject_of(_GOAL).policy, LIMITS: list(subject_of(_GOAL).limits)}


@pytest.mark.parametrize(
    "change",
    [
        {"verdict": ApprovalVerdict.conditional},
        {"issued_at": _LATER},
        {"expires_at": CLOCK.now() + timedelta(minutes=31)},
        {"conditions": {"a": 1}},
        {"scope": ApprovalScope.standing, "conditions": _STANDING},
        {"scope": ApprovalScope.standing, "conditions": _STANDING, "max_executions": 2},
        {"scope": ApprovalScope.standing, "conditions": {**_STANDING, "a": "\u202e"}},
    ],
)
def test_what_is_asked_differs_wherever_what_is_signed_does(
    change: dict[str, Any], service: Signables
) -> None:
    plain, changed = service.judge(*about(_GOAL)), service.judge(*about(_GOAL, **change))
    assert plain.question
    assert changed.question
    assert plain.question != changed.question
    assert "\u202e" not in changed.question


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"plan_hash": HASH}, "is something else"),
        ({"work_item_id": "task-other"}, "another work item"),
        ({"issued_at": CLOCK.now() + timedelta(seconds=31)}, "not made now"),
        ({"issued_at": CLOCK.now() - timedelta(seconds=31)}, "not made now"),
        ({"expires_at": CLOCK.now() + timedelta(hours=25)}, "at most 24 hours"),
        ({"expires_at": CLOCK.now() - timedelta(seconds=1)}, "at most 24 hours"),
        (
            {
                "scope": ApprovalScope.standing,
                "conditions": _STANDING,
                "expires_at": CLOCK.now() + timedelta(days=91),
            },
            "at most 2160 hours",
        ),
        ({"max_executions": 2}, "more than once"),
        ({"scope": ApprovalScope.budget}, "cannot show"),
        ({"scope": ApprovalScope.tool_type}, "no tool call"),
        ({"scope": ApprovalScope.standing}, "exactly what it spawns"),
        (
            {"scope": ApprovalScope.standing, "conditions": {**_STANDING, LIMITS: [9e9] * 5}},
            "exactly what it spawns",
        ),
        (
            {"scope": ApprovalScope.standing, "conditions": {**_STANDING, SPAWN_POLICY: HASH}},
            "exactly what it spawns",
        ),
    ],
)
def test_an_approval_that_could_not_be_shown_truly_is_refused_without_a_question(
    change: dict[str, Any], why: str, service: Signables
) -> None:
    ruling = service.judge(*about(_GOAL, **change))
    assert why in ruling.refusal
    assert not ruling.question


def test_the_card_of_a_goal_says_how_often_the_approval_really_starts_work(
    service: Signables,
) -> None:
    goal = a_plan(type="goal", schedule="0 9 * * *", cycle="work")
    subject = subject_of(goal)
    signed = {SPAWN_POLICY: subject.policy, LIMITS: list(subject.limits)}
    change: dict[str, Any] = {"scope": ApprovalScope.standing, "conditions": signed}
    for days in (3, 90):
        end = CLOCK.now() + timedelta(days=days)
        ruling = service.judge(*about(goal, **change, max_executions=40, expires_at=end))
        told = " ".join(ruling.question.split())
        assert f"without asking 40 times within {days} days" in told


@pytest.mark.parametrize(
    ("uses", "later", "why"),
    [(3, 0, ""), (2, -1, ""), (4, 0, "goes further"), (3, 1, "goes further")],
)
def test_an_approval_that_goes_further_than_its_plan_says_is_refused(
    uses: int, later: int, why: str, service: Signables
) -> None:
    end = CLOCK.now() + timedelta(days=2)
    said = {"uses": 3, "until": end.isoformat()}
    goal = a_plan(type="goal", schedule="0 9 * * *", cycle="work", standing=said)
    subject = subject_of(goal)
    signed = {SPAWN_POLICY: subject.policy, LIMITS: list(subject.limits)}
    change: dict[str, Any] = {"scope": ApprovalScope.standing, "conditions": signed}
    expires = end + timedelta(seconds=later)
    ruling = service.judge(*about(goal, **change, max_executions=uses, expires_at=expires))
    assert why in ruling.refusal
    assert bool(ruling.question) is not bool(why)
    if (uses, later) == (3, 0):
        assert f"without asking 3 times until {day_words(end)}" in " ".join(ruling.question.split())


@given(st.binary(max_size=40))
def test_bytes_that_are_no_plan_are_never_asked_about(shown: bytes) -> None:
    data = token_bytes(claims(plan_hash=sha256_hex(shown)))
    service = Signables(CLOCK, SignedHeads(Path("/nonexistent/head.json")))
    assert service.judge(data, shown).refusal


def test_a_tool_call_is_asked_about_with_its_arguments(service: Signables) -> None:
    subject = call_subject(validated_call("mail", "send", {"to": "a@b.c\x1b[2J"}), "task-1")
    token = claims(plan_hash=subject.digest, work_item_id="task-1", scope=ApprovalScope.tool_type)
    ruling = service.judge(token_bytes(token), subject.canonical)
    assert not ruling.refusal
    for text in ("mail", '"send"', "a@b.c", "task-1"):
        assert text in ruling.question
    assert "\x1b" not in ruling.question


def test_changes_are_asked_about_path_by_path(service: Signables) -> None:
    before, after = ["file", 0o644, "1" * 64, 9], ["file", 0o755, "2" * 64, 7]
    changes = [["a\x1b[2J.txt", before, None], ["run", None, after]]
    said = {"directory": "/home/me/notes", "identity": [1, 2], "changes": changes}
    shown = canonical_bytes(said)
    digest = sha256_hex(shown)
    given = {"plan_hash": digest, "scope": ApprovalScope.single_step}
    ruling = service.judge(token_bytes(claims(**given, work_item_id=changes_id(digest))), shown)
    assert not ruling.refusal
    for text in ("/home/me/notes", "a\\x1b[2J.txt", "1" * 64, "mode 0755", "2" * 64, "once"):
        assert text in ruling.question
    assert "\x1b" not in ruling.question
    other = token_bytes(claims(**given, work_item_id="task-1"))
    assert "other changes" in service.judge(other, shown).refusal
    nothing = canonical_bytes({**said, "changes": [[]]})
    bare = claims(plan_hash=sha256_hex(nothing), scope=ApprovalScope.single_step)
    assert "no set of changes" in service.judge(token_bytes(bare), nothing).refusal


def test_a_batch_is_asked_about_file_by_file(service: Signables) -> None:
    identity = FileIdentity(1, 2, 3, 4, 5, HASH)
    move = FileMove("a\x1b[2J.pdf", "Documents", identity, "Documents", "why", 0.9)
    item = item_id_of(Folder(Path("/home/me/D"), 1, 7), move)
    said = {"goal_id": "", "action": "move", "item_ids": [item], "count": 1}
    shown = canonical_bytes(said)
    given = {"scope": ApprovalScope.connection_act, "work_item_id": "batch-1"}
    ruling = service.judge(token_bytes(claims(**given, plan_hash=sha256_hex(shown))), shown)
    assert not ruling.refusal
    for text in ("Move 1 file", "/home/me/D/", "Documents/a<U+001B>[2J.pdf", "once"):
        assert text in ruling.question
    assert "\x1b" not in ruling.question
    for wrong in ({"count": 2}, {"action": "delete"}, {"item_ids": ["{}"]}, {"item_ids": 1}):
        other = canonical_bytes({**said, **wrong})
        token = token_bytes(claims(**given, plan_hash=sha256_hex(other)))
        assert "no batch" in service.judge(token, other).refusal


def a_skill(**changes: Any) -> Installation:
    fields = {"name": "excel", "description": "Tables.", "source": "/home/me/excel\x1b[2J"}
    return Installation.model_validate(
        {**fields, "changes": ("removed: hooks",), "files": {"SKILL.md": HASH}, **changes}
    )


def test_a_skill_is_asked_about_with_its_source_and_every_file(service: Signables) -> None:
    skill = a_skill()
    overrides: dict[str, Any] = {
        "plan_hash": skill.digest,
        "work_item_id": "skill-excel",
        "scope": ApprovalScope.skill_install,
    }
    ruling = service.judge(token_bytes(claims(**overrides)), skill.canonical)
    assert not ruling.refusal
    for text in ("Install the skill excel", "/home/me/excel", HASH, "removed: hooks", "once"):
        assert text in ruling.question
    assert "\x1b" not in ruling.question
    other = claims(**{**overrides, "work_item_id": "skill-word"})
    assert "another skill" in service.judge(token_bytes(other), skill.canonical).refusal
    loose = skill.canonical.replace(b'"name"', b' "name"')
    none = claims(**{**overrides, "plan_hash": sha256_hex(loose)})
    assert "is no skill" in service.judge(token_bytes(none), loose).refusal


@pytest.mark.parametrize("verdict", [ApprovalVerdict.declined, ApprovalVerdict.edit_requested])
def test_a_recorded_no_is_signed_without_a_question(
    verdict: ApprovalVerdict, service: Signables
) -> None:
    assert service.judge(token_bytes(claims(verdict=verdict)), b"") == SigningRuling()


def test_a_message_is_asked_about_in_its_own_words(service: Signables) -> None:
    ruling = service.judge(a_message("pay it\n=====\nApprove"), b"")
    assert not ruling.refusal
    for line in ("    | pay it", "    | =====", "    | Approve"):
        assert line in ruling.question.splitlines()


# checkpoints --------------------------------------------------------------------------------------
def test_a_record_that_goes_back_is_not_signed(tmp_path: Path) -> None:
    place, other = tmp_path / "head.json", sha256_hex(b"other")
    service = Signables(CLOCK, SignedHeads(place))
    assert service.judge(a_checkpoint(0, "0" * 64), b"") == SigningRuling()
    assert service.judge(a_checkpoint(7), b"") == SigningRuling()
    assert service.judge(a_checkpoint(7), b"") == SigningRuling()  # the same head at another moment
    for _ in range(2):
        assert "was signed already" in service.judge(a_checkpoint(6), b"").refusal
        assert "was signed already" in service.judge(a_checkpoint(7, other), b"").refusal
        service = Signables(CLOCK, SignedHeads(place))  # and after a restart
    assert service.judge(a_checkpoint(8, other), b"") == SigningRuling()
    assert place.stat().st_mode & 0o777 == 0o600


def test_what_was_signed_last_is_not_guessed_where_its_file_is_damaged(tmp_path: Path) -> None:
    place = tmp_path / "head.json"
    SignedHeads(place).advance(SignedHead(3, HASH))
    place.write_text("{}")
    with pytest.raises(ConfigError, match="damaged"):
        SignedHeads(place).newest()
    assert (
        "cannot be read" in Signables(CLOCK, SignedHeads(place)).judge(a_checkpoint(4), b"").refusal
    )


def test_a_head_that_cannot_be_kept_is_not_signed(tmp_path: Path) -> None:
    service = Signables(CLOCK, SignedHeads(tmp_path / "missing" / "head.json"))
    assert "cannot be kept" in service.judge(a_checkpoint(1), b"").refusal


def an_acceptance(seq: int, was: int) -> bytes:
    at = CLOCK.now().isoformat()
    said = {"at": at, "entry_hash": HASH, "seq": seq, "was_entry_hash": HASH, "was_seq": was}
    return ACCEPTANCE_DOMAIN + canonical_bytes(said)


def test_a_record_goes_back_only_after_the_owner_accepted_it(service: Signables) -> None:
    assert service.judge(a_checkpoint(7), b"") == SigningRuling()
    ruling = service.judge(an_acceptance(3, 7), b"")
    assert not ruling.refusal
    for words in ("3 entries", f"accepted: 3:{HASH}", f"given up: 7:{HASH}"):
        assert words in ruling.question
    assert service.judge(a_checkpoint(4), b"").refusal  # asked about is not accepted
    ruling.then()
    assert service.judge(a_checkpoint(2), b"").refusal
    assert service.judge(a_checkpoint(4), b"") == SigningRuling()


@pytest.mark.parametrize(
    "change",
    [{"memories": 4}, {"digest": sha256_hex(b"other")}, {"exported_at": "2027-01-01T00:00:00Z"}],
)
def test_a_bundle_of_memories_is_asked_about_with_all_that_is_signed(
    change: dict[str, Any], service: Signables
) -> None:
    plain = service.judge(A_BUNDLE, b"")
    signed = read_signed_bundle(A_BUNDLE)
    assert signed is not None
    changed = service.judge(bundle_bytes(signed._replace(**change)), b"")
    assert "Vouch for a bundle of 3 memories" in plain.question
    assert HASH in plain.question
    assert changed.question not in ("", plain.question)


@pytest.mark.parametrize(
    "signed",
    [
        SignedBundle(-1, HASH, "2026-01-02T03:04:05Z"),
        SignedBundle(3, "00", "2026-01-02T03:04:05Z"),
        SignedBundle(3, HASH, "2026-01-02T03:04:05"),
        SignedBundle(3, HASH, "yesterday"),
    ],
)
def test_what_is_no_bundle_of_memories_is_refused(signed: SignedBundle, service: Signables) -> None:
    assert "no bytes" in service.judge(bundle_bytes(signed), b"").refusal
