"""Opens and closes the cockpit for a phone, beside its own address on loopback."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import NamedTuple

from silas.audit import Audit
from silas.channels.models import PhoneWay, WebConfig
from silas.channels.web.app import GuardedApp, StartingApp
from silas.channels.web.certificate_page import CertificatePage
from silas.channels.web.hosts import WebHosts
from silas.channels.web.phone_port import PhoneAddressView, PhoneLink, PhoneView
from silas.channels.web.serve import Https, PlainHttp, run_server
from silas.clock import Clock, SystemClock
from silas.config import SilasConfig
from silas.errors import ChannelError, ConfigError
from silas.home.interfaces import (
    InterfaceAddress,
    choose_address,
    interface_addresses,
    local_name,
    phone_addresses,
    routed_interface,
)
from silas.keys.authority import ServerIdentity
from silas.services.phone.identity import PhoneIdentity, own_identity, owners_identity
from silas.services.phone.qr import qr_rows
from silas.services.phone.tailscale import Tailscale
from silas.services.phone.transports import usual_way, ways

Link = Callable[[str], Awaitable[str]]
"""A fresh pairing link below an origin."""

_LOOPBACK = "127.0.0.1"


class _Opened(NamedTuple):
    way: PhoneWay
    origin: str
    steps: str
    identity: ServerIdentity | None
    words: str
    stack: AsyncExitStack


class PhoneService:
    """`silas.channels.web.phone_port.Phone`: one address at a time, of one way.

    Args:
        config: The whole configuration; its `channels.web.phone` says what is usual.
        link: Makes pairing links.
        audit: Where opening and closing are recorded.
        clock: Whether a certificate counts now.
        tailscale: This machine's.
    """

    def __init__(
        self,
        config: SilasConfig,
        link: Link,
        audit: Audit,
        clock: Clock,
        tailscale: Tailscale,
    ) -> None:
        self._config = config
        self._web: WebConfig = config.channels.web
        self._link = link
        self._audit = audit
        self._clock = clock
        self._tailscale = tailscale
        self._front = StartingApp()
        self._guard: Callable[[WebHosts], GuardedApp] | None = None
        self._served: Callable[[str], None] = lambda _: None
        self._opened: _Opened | None = None
        self._changing = asyncio.Lock()
        self._ending: asyncio.Task[None] | None = None

    def serve(self, guard: Callable[[WebHosts], GuardedApp], served: Callable[[str], None]) -> None:
        """From now on it can be opened.

        Args:
            guard: The cockpit behind a guard that knows these addresses and no others.
            served: Told the phone's origin, and nothing once it is closed, for other processes.
        """
        self._guard, self._served = guard, served

    async def state(self) -> PhoneView:
        """See `Phone.state`."""
        opened = self._opened
        found = await asyncio.to_thread(interface_addresses)
        usual = await asyncio.to_thread(routed_interface)
        identity = opened.identity if opened else None
        steps = opened.steps if opened else ""
        return PhoneView(
            way=opened.way if opened else None,
            origin=opened.origin if opened else "",
            steps=steps,
            steps_code=qr_rows(steps) if steps else (),
            fingerprint=identity.fingerprint if identity else "",
            until=identity.ends if identity else None,
            words=opened.words if opened else "",
            ways=ways(self._web, installed=self._tailscale.installed),
            addresses=tuple(
                PhoneAddressView(address=one.address, interface=one.interface)
                for one in phone_addresses(found, usual, self._web.phone.address)
            ),
        )

    async def open(self, way: PhoneWay | None, address: str) -> PhoneView:
        """See `Phone.open`."""
        async with self._changing:
            way = way or usual_way(self._web)
            if self._opened is not None and self._opened.way != way:
                raise ConfigError(
                    f"A phone reaches Silas at {self._opened.origin} already; turn that off first.",
                    code="E_CFG_PHONE_OPEN",
                )
            if self._opened is None:
                await self._wait_for_end()
                async with AsyncExitStack() as stack:
                    self._opened = await self._open(way, address, stack)
        return await self.state()

    async def link(self) -> PhoneLink:
        """See `Phone.link`."""
        if self._opened is None:
            raise ChannelError(
                "Silas is not open for a phone; turn that on first.", code="E_CHANNEL_NOT_NOW"
            )
        link = await self._link(self._opened.origin)
        return PhoneLink(link=link, code=qr_rows(link))

    async def close(self) -> PhoneView:
        """See `Phone.close`. Answers at once: what asks may come over what is closed."""
        async with self._changing:
            opened, self._opened = self._opened, None
            if opened is not None:
                self._front.close()
                self._served("")
                self._ending = asyncio.create_task(opened.stack.aclose())
                await self._audit.log("phone.closed", origin=opened.origin)
        return await self.state()

    async def end(self) -> None:
        """Close, and wait for it: Silas ends."""
        if self._opened is not None:
            await self.close()
        await self._wait_for_end()

    async def _wait_for_end(self) -> None:
        if self._ending is not None:
            await asyncio.wait([self._ending])
            self._ending = None

    async def _open(self, way: PhoneWay, address: str, stack: AsyncExitStack) -> _Opened:
        if self._guard is None:
            raise ChannelError("Silas is starting; try again.", code="E_CHANNEL_NOT_NOW")
        if way == "tailscale":
            opened = await self._over_tailscale(stack)
        else:
            opened = await self._at_home(way, address, stack)
        return opened._replace(stack=stack.pop_all())

    async def _at_home(self, way: PhoneWay, address: str, stack: AsyncExitStack) -> _Opened:
        found = await asyncio.to_thread(interface_addresses)
        usual = await asyncio.to_thread(routed_interface)
        place = choose_address(address or self._web.phone.address, found, usual)
        shown = await asyncio.to_thread(self._identity, way, place)
        port = await self._listen(stack, self._front, place, self._web.phone.port, shown)
        names = (place.address, *shown.identity.names)
        names = shown.identity.names if way == "certificate" else names
        origins = [_origin(name, port) for name in names]
        steps = ""
        if way == "authority":
            zone = self._config.scheduler.zone
            page = CertificatePage(shown.identity, origins[0], place.address, zone)
            plain = await self._listen(stack, page, place, self._web.phone.certificate_port, None)
            steps = f"http://{place.address}:{plain}/"
        await self._record(stack, way, origins, port, shown.identity.fingerprint)
        return _Opened(way, origins[0], steps, shown.identity, shown.made, stack)

    def _identity(self, way: PhoneWay, place: InterfaceAddress) -> PhoneIdentity:
        now = self._clock.now()
        if way == "certificate":
            return owners_identity(self._web.tls, now)
        return own_identity(self._config.data_dir, local_name(), (place.address,), now)

    async def _over_tailscale(self, stack: AsyncExitStack) -> _Opened:
        name = await self._tailscale.name()
        here = InterfaceAddress(_LOOPBACK, "")
        plain = await self._listen(stack, self._front, here, self._web.phone.certificate_port, None)
        port = self._web.phone.port or 443
        await self._tailscale.serve(name, port, f"http://{_LOOPBACK}:{plain}")
        stack.push_async_callback(self._tailscale.end, port)
        origin = _origin(name, port)
        await self._record(stack, "tailscale", [origin], port, "")
        return _Opened("tailscale", origin, "", None, "", stack)

    async def _record(
        self, stack: AsyncExitStack, way: PhoneWay, origins: list[str], port: int, fingerprint: str
    ) -> None:
        """Put it on record, and only then answer."""
        assert self._guard is not None
        secret = self._web.auth_token.get_secret_value() if self._web.auth_token else ""
        hosts = WebHosts(
            origins=frozenset(origins), base=origins[0], port=port, auth_token=secret.strip()
        )
        await self._audit.log(
            "phone.opened", origin=origins[0], way=way, fingerprint=fingerprint or "none"
        )
        self._front.open(self._guard(hosts))
        self._served(origins[0])
        stack.callback(self._front.close)

    async def _listen(
        self,
        stack: AsyncExitStack,
        app: StartingApp | CertificatePage,
        place: InterfaceAddress,
        port: int,
        shown: PhoneIdentity | None,
    ) -> int:
        knows = app.knows if isinstance(app, StartingApp) else _nobody
        transport = Https(shown.tls) if shown else PlainHttp()
        try:
            return await stack.enter_async_context(
                run_server(
                    app,
                    place.address,
                    port,
                    SystemClock(),
                    knows,
                    transport,
                    interface=place.interface,
                )
            )
        except ConfigError as error:
            why = (
                error.__cause__.strerror if isinstance(error.__cause__, OSError) else error.message
            )
            raise ConfigError(
                f"Silas cannot listen at {place.address}:{port} for your phone ({why}); set "
                "channels.web.phone.port and certificate_port to free ones.",
                code="E_CFG_PORT",
            ) from error


def _nobody(head: bytes) -> bool:
    del head
    return False


def _origin(name: str, port: int) -> str:
    return f"https://{name}" if port == 443 else f"https://{name}:{port}"
