"""`silas signer`: a second process, a terminal of its own, and a person who reads it."""

import asyncio
import json
import os
import pwd
import re
import tempfile
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from silas import load_config
from silas.approval import ApprovalToken, ApprovalVerdict, token_bytes
from silas.cards import ChannelMessage, message_bytes
from silas.clock import SystemClock
from silas.errors import ApprovalError
from silas.home.key_vault import open_vault, owner_keys
from silas.home.signer_client import arrangement, enrol
from silas.keys import Signer
from silas.plans import PlanParser, subject_of
from silas.testing import a_signer
from silas.testing.approval import a_token
from tests.support.command import Ended, environment, person, run, silas
from tests.support.plans import a_workspace, writing_plan
from tests.support.signer import signer, signer_as
from tests.support.users import ME, User, acting_as, person_as

CHOICE = "Your choice, 1 to 3:"
CLOCK = SystemClock()


@pytest.fixture
def home() -> Iterator[Path]:
    """A directory with a short name, since sockets have short addresses."""
    with tempfile.TemporaryDirectory(prefix="silas-", dir="/var/tmp") as name:
        place = Path(name).resolve()
        place.chmod(0o755)
        yield place


@pytest.fixture
def env(home: Path) -> dict[str, str]:
    return environment(home / "h", SILAS_KEYS__SIGNER="apart")


@pytest.fixture
def plan(home: Path) -> Path:
    a_workspace(home / "work")
    file = home / "plan.md"
    file.write_text(writing_plan(home / "work", id="task-signed", title="Write what is signed"))
    return file


def changed(plan: Path) -> bool:
    return (plan.parent / "work" / "result.txt").exists()


def set_up(env: dict[str, str]) -> None:
    done = run(silas("init"), env)
    assert done.code == 0, done.err


# the way of an approval ---------------------------------------------------------------------------
def test_an_approval_is_given_at_the_signer_and_nowhere_else(
    plan: Path, env: dict[str, str]
) -> None:
    with signer(env) as desk:
        set_up(env)
        with person(silas("run", plan), env) as owner:
            owner.waits_for(CHOICE)
            owner.types("1\r")
            owner.waits_for("The signer asks now")
            code = desk.asked()
            assert not changed(plan)
            desk.says(f"yes {code}", "Signed.")
            assert owner.leaves() == 0
        record = run(silas("audit", "verify"), env)
        desk.terminal.types("\x04")
        assert desk.terminal.leaves() == 0
    assert changed(plan)
    assert record.code == 0, record.err
    question = desk.terminal.seen[desk.terminal.seen.index("asks for your signature") :]
    for text in ("Write what is signed", str(plan.parent / "work"), "cp input.txt result.txt"):
        assert text in question
    assert "Traceback" not in owner.seen + desk.terminal.seen
    # the checkpoint at the end was signed there, too, and is remembered
    kept = Path(load_config(environ=env).data_dir) / "keys" / "owner.signed-head.json"
    assert json.loads(kept.read_text())["seq"] > 0


@pytest.mark.parametrize("typed", ["no", "yes", "1", "", "yes 000000", "y"])
def test_anything_but_yes_and_the_code_runs_nothing(
    typed: str, plan: Path, env: dict[str, str]
) -> None:
    with signer(env) as desk:
        set_up(env)
        done = _run_beside(plan, env)
        desk.asked()
        desk.says(typed, "Not signed.")
        ended = done()
    assert ended.code == 3
    assert not changed(plan)
    assert "did not say yes at the signer's terminal" in ended.err


def _run_beside(plan: Path, env: dict[str, str]) -> "_Later":
    text = plan.read_text()
    digest = subject_of(PlanParser().parse(text)).digest
    return _Later(silas("run", plan, "--approve", f"sha256:{digest}"), env)


class _Later:
    """A command under way in another thread; calling it waits for its end."""

    def __init__(self, argv: list[str], env: dict[str, str]) -> None:
        self._ended: list[Ended] = []
        self._thread = threading.Thread(target=lambda: self._ended.append(run(argv, env)))
        self._thread.start()

    def __call__(self) -> Ended:
        self._thread.join()
        return self._ended[0]


def test_the_end_of_the_signer_is_a_no(plan: Path, env: dict[str, str]) -> None:
    with signer(env) as desk:
        set_up(env)
        done = _run_beside(plan, env)
        desk.asked()
        desk.terminal.types("\x04")
        assert desk.terminal.leaves() == 0
        assert done().code == 3
    assert not changed(plan)


def test_without_the_signer_nothing_is_approved_and_questions_are_answered(
    plan: Path, env: dict[str, str]
) -> None:
    with signer(env):
        set_up(env)
    refused, answered = _run_beside(plan, env)(), run(silas("ask", "hello"), env)
    assert refused.code == 3
    assert "start `silas signer` in a terminal of its own" in refused.err
    assert not changed(plan)
    assert answered.code == 0
    assert "No checkpoint was signed" in run(silas("audit", "show"), env).out
    # and the next session with a signer signs a record that covers this one
    with signer(env, new=False):
        assert run(silas("ask", "hello"), env).code == 0
    assert run(silas("audit", "verify"), env).code == 0


# attacks ------------------------------------------------------------------------------------------
def stolen(env: dict[str, str]) -> Signer:
    """All that code inside the agent process has of the owner's key."""
    config = load_config(environ=env)
    return owner_keys(config, open_vault(config), unlock=True)[0]


def wanted(plan: Path, **overrides: object) -> tuple[ApprovalToken, bytes]:
    """What such code would like to have signed, and what it is about."""
    subject = subject_of(PlanParser().parse(plan.read_text()))
    fields = {"plan_hash": subject.digest, "work_item_id": subject.id, **overrides}
    return a_token(a_signer("nobody"), CLOCK, **fields), subject.canonical


async def test_code_that_asks_by_itself_gets_a_question_and_nothing_else(
    plan: Path, env: dict[str, str]
) -> None:
    with signer(env) as desk:
        set_up(env)
        agent = stolen(env)
        token, shown = wanted(plan)
        asking = asyncio.create_task(agent.sign_shown(token_bytes(token), shown))
        await asyncio.to_thread(desk.asked)
        assert not asking.done()
        asking.cancel()
        await asyncio.to_thread(desk.terminal.waits_for, "Withdrawn by whoever asked")
        for data, about in (
            (b"", b""),
            (b"anything", b"anything"),
            (token_bytes(token), b""),  # not saying what it is about
            (token_bytes(token), shown.replace(b"signed", b"harmless")),  # or saying something else
            (token_bytes(wanted(plan, expires_at=CLOCK.now() + timedelta(days=9))[0]), shown),
        ):
            with pytest.raises(ApprovalError):
                await agent.sign_shown(data, about)
        no = token_bytes(wanted(plan, verdict=ApprovalVerdict.declined)[0])
        signed = await asyncio.to_thread(agent.sign, no)
    assert agent.verify(no, signed)  # a recorded no, and the only thing it got
    assert not hasattr(agent, "seed_for_vault")
    assert desk.terminal.seen.count("asks for your signature") == 1


async def test_nothing_is_printed_below_a_question_before_it_is_answered(
    plan: Path, env: dict[str, str]
) -> None:
    with signer(env) as desk:
        set_up(env)
        agent = stolen(env)
        token, shown = wanted(plan)
        asking = asyncio.create_task(agent.sign_shown(token_bytes(token), shown))
        code = await asyncio.to_thread(desk.asked)
        for _ in range(40):  # enough to push the question off the screen
            with pytest.raises(ApprovalError):
                await agent.sign_shown(b"anything", b"")
        await asyncio.to_thread(desk.says, f"yes {code}", "Signed.")
        assert agent.verify(token_bytes(token), await asking)
        desk.terminal.types("\x04")
        desk.terminal.leaves()
    _, _, after = desk.terminal.seen.partition("is a no:\n")
    assert after.startswith(f"yes {code}\nSigned.\nRefused without a question")
    assert after.count("Refused without a question") == 20


async def test_a_question_exchanged_at_the_last_moment_does_not_get_the_answer(
    plan: Path, env: dict[str, str]
) -> None:
    with signer(env) as desk:
        set_up(env)
        agent = stolen(env)
        token, shown = wanted(plan)
        harmless = asyncio.create_task(agent.sign_shown(token_bytes(token), shown))
        read = await asyncio.to_thread(desk.asked)
        harmless.cancel()
        await asyncio.to_thread(desk.terminal.waits_for, "Withdrawn")
        plan.write_text(plan.read_text().replace("input.txt", "secrets.txt"))
        token, shown = wanted(plan)
        harmful = asyncio.create_task(agent.sign_shown(token_bytes(token), shown))
        await asyncio.to_thread(desk.asked)
        await asyncio.to_thread(desk.says, f"yes {read}", "Not signed.")
        with pytest.raises(ApprovalError, match="did not say yes"):
            await harmful


async def test_a_message_is_signed_after_its_words_were_shown(env: dict[str, str]) -> None:
    message = ChannelMessage(
        channel="cli", sender_id="owner", text="say this in my name", timestamp=CLOCK.now()
    )
    data = message_bytes(message, "nonce")
    with signer(env) as desk:
        set_up(env)
        agent = stolen(env)
        asking = asyncio.create_task(agent.sign_shown(data, b""))
        code = await asyncio.to_thread(desk.asked)
        await asyncio.to_thread(desk.says, f"yes {code}", "Signed.")
        assert agent.verify(data, await asking)
    assert "| say this in my name" in desk.terminal.seen


def ordinary() -> User:
    """Somebody without privileges: we ourselves, or a user that root makes up."""
    return ME if ME.uid != 0 else User(54321, 54321)


def look(pid: int) -> list[str]:
    """What a process shows to whoever asks."""
    shown: list[str] = []
    for name in ("environ", "mem"):
        try:
            os.close(os.open(f"/proc/{pid}/{name}", os.O_RDONLY))
            shown.append(name)
        except OSError:
            continue
    return shown


def test_the_signers_memory_is_closed_to_its_own_user(home: Path, env: dict[str, str]) -> None:
    home.chmod(0o777)
    user = ordinary()
    with signer_as(user, env) as desk:
        seen = acting_as(user, lambda: look(desk.terminal.pid))
        limits = Path(f"/proc/{desk.terminal.pid}/limits").read_text() if ME.uid == 0 else ""
    # a process of the same user that is not hardened shows at least its environment
    with person_as(user, lambda: input("waiting "), env) as other:
        other.waits_for("waiting")
        assert "environ" in acting_as(user, lambda: look(other.pid))
    assert seen == []
    assert ME.uid != 0 or re.search(r"Max core file size +0 +0 ", limits)


# arrangements -------------------------------------------------------------------------------------
def a_key_file(env: dict[str, str], home: Path) -> None:
    (home / "key").write_bytes(b"x" * 32)
    (home / "key").chmod(0o600)
    env["SILAS_KEYS__KEY_FILE"] = str(home / "key")


def a_key_beside(env: dict[str, str], home: Path) -> None:
    done = run(silas("init"), {**env, "SILAS_KEYS__SIGNER": "inside"})
    assert done.code == 0, done.err


def the_key_inside(env: dict[str, str], home: Path) -> None:
    env["SILAS_KEYS__SIGNER"] = "inside"


def another_user(env: dict[str, str], home: Path) -> None:
    env["SILAS_KEYS__SIGNER_USER"] = "somebody"


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (a_key_file, "opens the key for every program of yours"),
        (a_key_beside, "opens the key for every program of yours"),
        (the_key_inside, "nothing would ask it"),
        (another_user, "which is somebody"),
    ],
)
def test_it_does_not_start_where_it_would_protect_nothing(
    spoil: Callable[[dict[str, str], Path], None], why: str, home: Path, env: dict[str, str]
) -> None:
    spoil(env, home)
    with person(silas("signer"), env) as terminal:
        assert terminal.leaves() == 2
    assert why in terminal.seen.replace("\n", " ")
    assert "Traceback" not in terminal.seen


def test_without_a_terminal_it_does_not_start(env: dict[str, str]) -> None:
    done = run(silas("signer"), env, stdin="passphrase\npassphrase\n")
    assert done.code == 2
    assert "there is none" in done.err


def test_setting_up_needs_the_signer_first(env: dict[str, str]) -> None:
    done = run(silas("init"), env)
    assert done.code == 2
    assert "start `silas signer`" in done.err


def doctor(env: dict[str, str]) -> str:
    """What it says about signing."""
    ok, words = arrangement(load_config(environ=env))
    return f"{ok}: {words}"


def test_doctor_says_which_arrangement_is_in_force(home: Path, env: dict[str, str]) -> None:
    home.chmod(0o777)
    user, inside = ordinary(), {**env, "SILAS_KEYS__SIGNER": "inside"}
    assert doctor(inside).startswith("True: inside: the key is unlocked in the process")
    with signer_as(user, env):
        found = acting_as(user, lambda: doctor(env))
    assert found.startswith("True: apart, as your own user:")
    assert "A yes is given in the signer's terminal alone" in found
    assert "False: The signer does not answer" in acting_as(user, lambda: doctor(env))


def test_doctor_says_that_nothing_is_safe_from_root(env: dict[str, str]) -> None:
    with signer(env):
        found = json.loads(run(silas("doctor", "--json"), env).out)
    (signing,) = [finding for finding in found if finding["part"] == "signer"]
    if ME.uid == 0:
        assert not signing["ok"]
        assert signing["words"].startswith("apart, but Silas runs as root")
    else:
        assert signing["ok"]


@pytest.mark.skipif(ME.uid != 0, reason="only root starts processes of two other users")
def test_as_a_user_of_its_own_where_root_can_make_it_one(home: Path, plan: Path) -> None:
    one = next(user for user in pwd.getpwall() if user.pw_uid != 0)
    other = next(user for user in pwd.getpwall() if user.pw_uid not in (0, one.pw_uid))
    agent = User(one.pw_uid, one.pw_gid)
    keeper = User(other.pw_uid, other.pw_gid, groups=(agent.gid,))
    for name, user in (("a", agent), ("k", keeper)):
        (home / name).mkdir()
        os.chown(home / name, user.uid, user.gid)
    socket = str(home / "k" / "desk" / "sock")
    env = environment(
        home / "a" / "h",
        SILAS_KEYS__SIGNER="apart",
        SILAS_KEYS__SIGNER_USER=other.pw_name,
        SILAS_KEYS__SOCKET=socket,
    )
    keeping = environment(home / "k" / "h", SILAS_KEYS__SOCKET=socket)
    key = home / "k/h/data/keys/owner.key.json"
    token, shown = wanted(plan)

    async def set_up_and_ask() -> bool:
        config = load_config(environ=env)
        enrol(config)  # what `silas init` does about keys
        print("asking", flush=True)
        signer = owner_keys(config, open_vault(config), unlock=True)[0]
        signature = await signer.sign_shown(token_bytes(token), shown)
        return signer.verify(token_bytes(token), signature)

    def ask_at_a_terminal() -> None:
        print("signed:", asyncio.run(set_up_and_ask()))

    with signer_as(keeper, keeping, "--for", one.pw_name) as desk:
        with person_as(agent, ask_at_a_terminal, env) as asking:
            asking.waits_for("asking")
            code = desk.asked()
            desk.says(f"yes {code}", "Signed.")
            asking.waits_for("signed: True")
            assert asking.leaves() == 0
        assert acting_as(agent, lambda: doctor(env)).startswith(f"True: apart, as user {other[0]}:")
        assert acting_as(agent, lambda: look(desk.terminal.pid)) == []
        assert not acting_as(agent, lambda: os.access(key, os.R_OK))
        # root may connect to anything, and gets no question either
        done = run(silas("init"), {**env, "SILAS_HOME": str(home / "r")})
        assert done.code == 2
        desk.terminal.waits_for("Refused: user 0")
    # what the agent keeps is a record without a private key
    record = json.loads((home / "a/h/data/keys/owner.key.json").read_text())
    assert sorted(record) == ["backend", "checksum", "owner", "public_key"]
    assert key.exists()
