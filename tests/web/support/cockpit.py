"""A real cockpit in this process: wired and served as `silas start` does it, in its own home."""

import asyncio
import json
import socket
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Origin

from silas.audit.log import AuditLog
from silas.cards import Card
from silas.clock import Clock, SystemClock
from silas.config import SilasConfig, load_config
from silas.config.firstrun import FirstRun, keep_first_run
from silas.config.place import ConfigPlace
from silas.db import Database
from silas.home.cockpit_address import listening_at
from silas.home.runtime import Runtime, equipment, model_of
from silas.home.secret_store import secrets_of
from silas.home.web_tools import Web
from silas.keys import KeyRing
from silas.plans import PlanLibrary
from silas.sandbox import default
from silas.services.memory import KeylessSigner, service_on
from silas.stop import RunRegister, Sentinel
from silas.stop.watch import never_end
from silas.testing import a_signer
from silas.testing.harness import NO_WEB
from silas.wiring.web import RunningCockpit, open_cockpit
from tests.support.waits import SECONDS
from tests.web.support.device import DESKTOP, Device, NewDevice, Scheme, Size
from tests.web.support.library import Signals, write_library

if TYPE_CHECKING:
    from pydantic_ai.models import Model

    from silas.agents import ModelChoice

_SYSTEM = SystemClock()


class Answered(NamedTuple):
    """An HTTP answer."""

    status: int
    headers: dict[str, str]
    body: str


class Home:
    """Where a cockpit lives: its data, a workspace with notes, runbooks; it outlives the cockpit.

    Attributes:
        first_run: Whether its owner has yet to be asked who answers, and who he is.
    """

    def __init__(self, folder: Path) -> None:
        self.first_run = False
        self.folder = folder
        self.signals = Signals(folder)
        self.plans = write_library(folder, self.signals)
        self.workspace = folder / "notes"
        self.workspace.mkdir()
        (self.workspace / "input.txt").write_text("as it was\n", encoding="utf-8")
        self.home = folder / "home"
        self.home.mkdir()
        tools = {"tools": {"discover": False}}  # this machine's are none of a test's business
        settings = {"plans_dirs": [str(self.plans)], "sandbox": tools}
        (self.home / "config.yaml").write_text(json.dumps({"silas": settings}), encoding="utf-8")

    def speaks(self, language: str) -> None:
        """Its language, whatever that of the machine is."""
        file = self.home / "config.yaml"
        told = json.loads(file.read_text(encoding="utf-8"))
        told["silas"]["language"] = language
        file.write_text(json.dumps(told), encoding="utf-8")

    def write_by_hand(self) -> None:
        """Its configuration as people write it, which the page can put lines into."""
        lines = (
            "silas:",
            "  # written by hand",
            f"  plans_dirs: [{json.dumps(str(self.plans))}]",
            "  sandbox: { tools: { discover: false } }",
        )
        (self.home / "config.yaml").write_text("\n".join((*lines, "")), encoding="utf-8")

    @property
    def result(self) -> Path:
        """What the runbooks write."""
        return self.workspace / "result.txt"

    def settings(self, **more: Any) -> dict[str, str]:
        """The environment of a Silas in this home."""
        given = {
            "SILAS_HOME": str(self.home),
            "SILAS_KEYS__BACKEND": "file",
            # each quarter of an hour a card of its own would come beside a test's
            "SILAS_SUGGESTIONS__HEARTBEAT_CRON": "0 0 1 1 *",
        }
        return {**given, **{name: str(value) for name, value in more.items()}}

    def config(self, **more: Any) -> SilasConfig:
        """Its configuration; `more` are variables as the environment has them."""
        return load_config(environ=self.settings(**more))


class Cockpit:
    """One that is being served.

    Attributes:
        running: What `silas start` works with.
        origin, port: Where the page is.
        channel: To ask cards on, and to look at what the pages see.
    """

    def __init__(self, running: RunningCockpit, home: Home, config: SilasConfig) -> None:
        self.running = running
        self.home = home
        self.config = config
        self.origin = running.address
        self.port = config.channels.web.port
        self.channel = running.channel
        self._link: str | None = running.link
        self._asked: list[asyncio.Task[Any]] = []

    async def link(self) -> str:
        """A pairing link that nobody has used."""
        link, self._link = self._link, None
        return link or await self.running.door.link(self.origin)

    async def paired(
        self, new_device: NewDevice, size: Size = DESKTOP, scheme: Scheme = "light"
    ) -> Device:
        """A device that has opened the link and is past the first run."""
        device = await new_device(self.origin, size, scheme)
        await device.pair(await self.link())
        return device

    async def ask(self, card: Card[Any]) -> Any:
        """What the owner answers to a card, or the safe answer when Silas ends."""
        return await self.channel.ask("owner", card)

    def asking(self, card: Card[Any]) -> "asyncio.Task[Any]":
        """The same, under way."""
        asked = asyncio.create_task(self.ask(card))
        self._asked.append(asked)
        return asked

    async def withdraw(self) -> None:
        """Close whatever is still asked, as work that ends does."""
        asked, self._asked = self._asked, []
        for one in asked:
            one.cancel()
        await asyncio.gather(*asked, return_exceptions=True)

    def stopped(self) -> bool:
        """Whether the emergency stop is in force."""
        return bool(Sentinel(self.config.data_dir).words())

    async def events(self, after: int = 0) -> list[str]:
        """What the audit record says happened, by name."""
        return [json.loads(body)["event"] for body in await self.record(after)]

    async def record(self, after: int = 0) -> list[str]:
        """The entries of the audit record, as they are stored."""
        audit = self.running.silas.audit
        assert isinstance(audit, AuditLog)
        return [entry.body for entry in await audit.entries(after, 1000)]

    async def http(
        self,
        method: str,
        path: str,
        *,
        cookie: str = "",
        token: str = "",
        body: Mapping[str, Any] | None = None,
    ) -> Answered:
        """A request by a program that is no browser and says what it likes."""
        host = self.origin.removeprefix("http://")
        name, _, port = host.rpartition(":")
        file = path.endswith("/content")  # the only endpoint that takes bytes
        content = b"" if body is None else json.dumps(body).encode()
        given = {
            "Host": host,
            "Origin": self.origin,
            "Connection": "close",
            "Content-Type": f"application/{'octet-stream' if file else 'json'}",
            "Content-Length": str(len(content)),
            **({"Cookie": cookie} if cookie else {}),
            **({"X-Silas-Page": token} if token else {}),
        }
        lines = [f"{method} {path} HTTP/1.1", *(f"{key}: {value}" for key, value in given.items())]
        reader, writer = await asyncio.open_connection(name, int(port))
        writer.write("\r\n".join([*lines, "", ""]).encode() + content)
        received = await asyncio.wait_for(reader.read(), SECONDS)
        writer.close()
        head, _, rest = received.partition(b"\r\n\r\n")
        first, *fields = head.decode("latin-1").split("\r\n")
        headers = {
            key.strip().lower(): value.strip()
            for key, _, value in (field.partition(":") for field in fields)
        }
        return Answered(int(first.split()[1]), headers, rest.decode())

    async def socket_says(self, *, cookie: str, token: str) -> int:
        """The code that a live connection with this cookie and page token is closed with."""
        url = self.origin.replace("http", "ws") + "/ws"
        async with connect(
            url, origin=Origin(self.origin), additional_headers={"Cookie": cookie}, proxy=None
        ) as live:
            await live.send(json.dumps({"type": "auth", "token": token, "after": 0}))
            try:
                async with asyncio.timeout(SECONDS):
                    while True:
                        await live.recv()
            except ConnectionClosed as closed:
                return closed.rcvd.code if closed.rcvd else 1006


def _runtime(models: "Mapping[str, Model]", clock: Clock, web: Web) -> Any:
    """The real sandbox; a key that costs nothing to unlock."""
    signer = a_signer()

    def make(config: SilasConfig) -> Runtime:
        register = RunRegister(Sentinel(config.data_dir))
        from silas.agents.runbook.model import RunbookModel

        def model(choice: "ModelChoice") -> "Model":
            if choice.base_url:  # a server that the test runs
                return model_of(config, choice, lambda _: "", default(config.sandbox, forbidden=()))
            scripted = models.get(choice.name.rpartition(":")[2])
            library = PlanLibrary.of_owner(config.plans_dirs)
            return scripted or RunbookModel(
                library,
                equipment(
                    config, default(config.sandbox, forbidden=(), register=register)
                ).find_tools,
                config.scheduler.zone,
                config.autonomy.standing_caps,
            )

        return Runtime(
            clock=clock,
            signer=signer,
            ring=KeyRing.alone(signer.public_key),
            secrets=secrets_of(config),
            sandbox=default(config.sandbox, forbidden=(), register=register),
            make_model=model,
            web=web,
        )

    return make


async def forget(config: SilasConfig, source: str) -> None:
    """What `silas memory forget SOURCE` does, in a process of its own, to this home."""
    database = Database(config.data_dir / "silas.db", _SYSTEM)
    try:
        service = service_on(config, database, _SYSTEM, KeylessSigner(), KeyRing.alone("0" * 64))
        await service.forget_source(source)
    finally:
        database.close()


@contextmanager
def refusing_port() -> Generator[int]:
    """A port that refuses every connection: it is taken, and nobody listens at it."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield int(taken.getsockname()[1])


@asynccontextmanager
async def a_cockpit(
    home: Home,
    *,
    models: "Mapping[str, Model] | None" = None,
    port: int = 0,
    clock: Clock = _SYSTEM,
    web: Web = NO_WEB,
    **more: Any,
) -> AsyncGenerator[Cockpit]:
    """Serve one; everything of it ends with this.

    Args:
        home: Where it lives; the same home again is the same Silas after a restart.
        models: A model per role, which takes the place of the runbooks.
        port: A port of a cockpit before, for a page that comes back to it; else any free one.
        clock: What time it is there.
        web: What of the web it reaches; nothing, where a test does not say.
        more: Variables of the configuration, as the environment has them.
    """
    given = {f"SILAS_MODELS__{role.upper()}": f"python:test:{role}" for role in models or {}}
    config = home.config(SILAS_CHANNELS__WEB__PORT=port, **given, **more)
    if not home.first_run:
        config.data_dir.mkdir(parents=True, exist_ok=True)
        keep_first_run(config.data_dir, FirstRun(provider="runbook", name="Ada"))
    place = ConfigPlace(home.home / "config.yaml", home.settings(**more))
    async with open_cockpit(
        config, place, str(home.workspace), never_end, runtime=_runtime(models or {}, clock, web)
    ) as running:
        port = int(running.address.rpartition(":")[2])
        yield Cockpit(running, home, listening_at(config, None, port))
