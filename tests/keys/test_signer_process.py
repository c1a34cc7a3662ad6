"""The desk of a signer apart and the other end of its socket, in one process."""

import asyncio
import contextlib
import os
import socket
import stat
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silas.errors import ApprovalError, ConfigError
from silas.keys.remote import RemoteSigner, fetch_public_key, pin_public_key
from silas.keys.signer_server import SigningRuling, SigningService, open_socket
from silas.keys.wire import LARGEST, BadFrame, ask_now, body_length, document_of, frame
from silas.testing import a_signer
from tests.support.waits import SECONDS

KEY = a_signer()
ME = os.geteuid()


def ask_for_questions(data: bytes, shown: bytes) -> SigningRuling:
    """Refuses `no`, signs `free`, asks about everything else."""
    if data == b"no":
        return SigningRuling(refusal="it says no")
    return SigningRuling() if data == b"free" else SigningRuling(question=shown.decode())


class Owner:
    """Answers questions when told to, and remembers them."""

    def __init__(self) -> None:
        self.questions: list[str] = []
        self.told: list[str] = []
        self.withdrawn = asyncio.Event()
        self.asked = asyncio.Event()
        self.answer: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

    async def confirm(self, question: str) -> bool:
        self.questions.append(question)
        self.asked.set()
        try:
            return await asyncio.shield(self.answer)
        except asyncio.CancelledError:
            self.withdrawn.set()
            raise


@asynccontextmanager
async def serving(place: Path, *, agent_uid: int = ME) -> AsyncGenerator[Owner]:
    owner, under_way = Owner(), set[asyncio.Task[None]]()
    service = SigningService(KEY, ask_for_questions, owner.confirm, owner.told.append, agent_uid)

    def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        under_way.add(asyncio.create_task(service.serve(reader, writer)))

    async with asyncio.timeout(SECONDS):
        async with await asyncio.start_unix_server(serve, sock=open_socket(place, -1)):
            yield owner
            with contextlib.suppress(ApprovalError):  # who came before is served when this is
                await asyncio.to_thread(fetch_public_key, place, ME)
        await asyncio.gather(*under_way)


def remote(place: Path, *, key: str = KEY.public_key, uid: int = ME) -> RemoteSigner:
    return RemoteSigner(place, key, uid)


async def test_no_device_says_yes_at_the_signer(tmp_path: Path) -> None:
    place, device = tmp_path / "s" / "sock", a_signer("a paired phone")
    wanted = {"ask": "sign", "data": b"all".hex(), "shown": b"this".hex()}
    async with serving(place) as owner:
        for proof in (
            {"device": device.public_key, "signature": device.sign(b"all").hex()},
            {"confirmed": "yes"},
        ):
            answer = await asyncio.to_thread(ask_now, place, {**wanted, **proof}, 5, lambda _: None)
            assert answer.keys() == {"refused"}
        assert owner.questions == []


async def test_what_needs_no_question_is_signed_at_once(tmp_path: Path) -> None:
    place = tmp_path / "s" / "sock"
    async with serving(place) as owner:
        signature = await asyncio.to_thread(remote(place).sign, b"free")
    assert KEY.verify(b"free", signature)
    assert owner.questions == []


async def test_a_yes_signs_exactly_what_was_asked_about(tmp_path: Path) -> None:
    async with serving(tmp_path / "s") as owner:
        owner.answer.set_result(True)
        signature = await remote(tmp_path / "s").sign_shown(b"data", b"the plan")
    assert KEY.verify(b"data", signature)
    (question,) = owner.questions
    assert question.splitlines() == [
        f"Process {os.getpid()} of user {ME} asks for your signature.",
        "the plan",
    ]


async def test_a_no_signs_nothing(tmp_path: Path) -> None:
    async with serving(tmp_path / "s") as owner:
        owner.answer.set_result(False)
        with pytest.raises(ApprovalError, match="did not say yes") as caught:
            await remote(tmp_path / "s").sign_shown(b"data", b"the plan")
    assert caught.value.code == "E_APPROVAL_NOT_SIGNED"


async def test_what_the_judge_refuses_is_no_question(tmp_path: Path) -> None:
    async with serving(tmp_path / "s") as owner:
        owner.answer.set_result(True)
        with pytest.raises(ApprovalError, match="it says no"):
            await remote(tmp_path / "s").sign_shown(b"no", b"the plan")
    assert owner.questions == []
    assert owner.told == ["Refused without a question: it says no."]


async def test_a_question_nobody_waits_for_is_withdrawn(tmp_path: Path) -> None:
    async with serving(tmp_path / "s") as owner:
        asking = asyncio.create_task(remote(tmp_path / "s").sign_shown(b"data", b"the plan"))
        await owner.asked.wait()
        asking.cancel()
        await owner.withdrawn.wait()


async def test_whoever_says_more_after_asking_is_not_answered_with_a_signature(
    tmp_path: Path,
) -> None:
    async with serving(tmp_path / "s") as owner:
        reader, writer = await asyncio.open_unix_connection(tmp_path / "s")
        asked = frame({"ask": "sign", "data": b"data".hex(), "shown": b"plan".hex()})
        writer.write(asked + b"more")
        owner.answer.set_result(True)
        answer = await reader.read()
        writer.close()
    assert b"signature" not in answer
    assert b"refused" in answer


async def test_only_so_many_questions_wait(tmp_path: Path) -> None:
    async with serving(tmp_path / "s") as owner:
        asking = [
            asyncio.create_task(remote(tmp_path / "s").sign_shown(b"data", b"%d" % n))
            for n in range(6)
        ]
        done, _ = await asyncio.wait(asking, return_when=asyncio.FIRST_EXCEPTION)
        assert all("too many questions" in str(each.exception()) for each in done)
        # and what needs no question does not wait behind them
        assert await asyncio.to_thread(remote(tmp_path / "s").sign, b"free")
        owner.answer.set_result(True)
        ended = await asyncio.gather(*asking, return_exceptions=True)
    assert sum(isinstance(each, bytes) for each in ended) == 4


async def test_a_user_who_is_not_served_gets_no_question(tmp_path: Path) -> None:
    async with serving(tmp_path / "s", agent_uid=ME + 1) as owner:
        owner.answer.set_result(True)
        with pytest.raises(ApprovalError, match="another user"):
            await remote(tmp_path / "s").sign_shown(b"data", b"the plan")
        with pytest.raises(ApprovalError):
            await asyncio.to_thread(remote(tmp_path / "s").sign, b"free")
        with pytest.raises(ApprovalError):
            await asyncio.to_thread(fetch_public_key, tmp_path / "s", ME)
        assert len(owner.told) == 3
    assert owner.questions == []


async def test_a_signer_of_another_user_is_told_nothing(tmp_path: Path) -> None:
    async with serving(tmp_path / "s") as owner:
        owner.answer.set_result(True)
        stranger = remote(tmp_path / "s", uid=ME + 1)
        with pytest.raises(ApprovalError, match="the signer's is"):
            await stranger.sign_shown(b"data", b"the plan")
        with pytest.raises(ApprovalError, match="the signer's is"):
            await asyncio.to_thread(stranger.sign, b"free")
    assert owner.questions == []


async def test_a_signer_with_another_key_is_refused(tmp_path: Path) -> None:
    other = remote(tmp_path / "s", key=a_signer("somebody else").public_key)
    async with serving(tmp_path / "s") as owner:
        owner.answer.set_result(True)
        with pytest.raises(ApprovalError, match="another key"):
            await other.sign_shown(b"data", b"the plan")
        with pytest.raises(ApprovalError, match="another key"):
            await asyncio.to_thread(other.sign, b"free")


async def test_without_a_signer_one_sentence_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ApprovalError, match="start `silas signer`"):
        await remote(tmp_path / "s").sign_shown(b"data", b"the plan")
    with pytest.raises(ApprovalError, match="start `silas signer`"):
        remote(tmp_path / "s").sign(b"free")


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"\x00",
        b"\xff\xff\xff\xff",
        b"\x00\x00\x00\x02{}",
        b"\x00\x00\x00\x09[1,2,3,4]",
        frame({"ask": "seed"}),
        frame({"ask": "key", "more": "x"}),
        frame({"ask": "sign", "data": "xyz", "shown": ""}),
        frame({"ask": "sign", "data": 1, "shown": ""}),
        b"\x00\x01\x86\xa0" + b"[" * 100_000,
    ],
)
async def test_what_is_no_request_is_refused(sent: bytes, tmp_path: Path) -> None:
    async with serving(tmp_path / "s") as owner:
        owner.answer.set_result(True)
        reader, writer = await asyncio.open_unix_connection(tmp_path / "s")
        writer.write(sent)
        writer.write_eof()
        answer = await reader.read()
        writer.close()
    assert document_of(answer[4:]) == {
        "refused": "The signer did not sign: the request cannot be read."
    }
    assert owner.questions == []


@given(st.binary())
def test_no_bytes_break_the_reading_of_a_frame(body: bytes) -> None:
    try:
        said = document_of(body)
    except BadFrame:
        return
    assert all(isinstance(value, str) for value in said.values())


def test_a_frame_is_bounded() -> None:
    assert body_length(LARGEST.to_bytes(4, "big")) == LARGEST
    with pytest.raises(BadFrame):
        body_length((LARGEST + 1).to_bytes(4, "big"))


# where it listens ---------------------------------------------------------------------------------
def test_the_socket_is_its_users_alone(tmp_path: Path) -> None:
    with open_socket(tmp_path / "new" / "sock", -1):
        modes = [stat.S_IMODE((tmp_path / "new" / name).stat().st_mode) for name in ("", "sock")]
    assert modes == [0o700, 0o600]


def test_a_group_may_be_given_the_socket(tmp_path: Path) -> None:
    with open_socket(tmp_path / "new" / "sock", os.getegid()):
        modes = [stat.S_IMODE((tmp_path / "new" / name).stat().st_mode) for name in ("", "sock")]
    assert modes == [0o750, 0o660]


def test_a_socket_that_nobody_serves_is_replaced_and_one_in_use_is_not(tmp_path: Path) -> None:
    place = tmp_path / "sock"
    open_socket(place, -1).close()
    with open_socket(place, -1), pytest.raises(ConfigError, match="running there already"):
        open_socket(place, -1)


@pytest.mark.parametrize("mode", [0o770, 0o702, 0o777])
def test_it_listens_in_no_directory_that_others_change(mode: int, tmp_path: Path) -> None:
    folder = tmp_path / "place"
    folder.mkdir()
    folder.chmod(mode)
    with pytest.raises(ConfigError, match="others may change"):
        open_socket(folder / "sock", -1)


@pytest.mark.parametrize("make", [Path.touch, Path.mkdir])
def test_it_takes_no_place_of_something_else(make: Callable[[Path], None], tmp_path: Path) -> None:
    make(tmp_path / "sock")
    with pytest.raises(ConfigError, match="something else"):
        open_socket(tmp_path / "sock", -1)
    assert (tmp_path / "sock").exists()


def test_a_path_that_no_socket_can_have_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="set a shorter"):
        open_socket(tmp_path / ("x" * 120), -1)


def test_a_key_is_pinned_once(tmp_path: Path) -> None:
    record = tmp_path / "keys" / "owner.key.json"
    assert pin_public_key(record, "owner", KEY.public_key)
    before = record.read_bytes()
    assert not pin_public_key(record, "owner", a_signer("somebody else").public_key)
    assert record.read_bytes() == before


async def test_a_key_that_would_verify_forgeries_is_not_taken(tmp_path: Path) -> None:
    async def claim(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(4)
        writer.write(frame({"public_key": "01" + "00" * 31}))
        writer.close()

    place = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(place))
        async with asyncio.timeout(SECONDS), await asyncio.start_unix_server(claim, sock=listener):
            with pytest.raises(ApprovalError, match="not a usable"):
                await asyncio.to_thread(fetch_public_key, place, ME)
