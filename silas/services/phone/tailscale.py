"""Tailscale, where it is installed: `serve` to the owner's own network, never `funnel`."""

import json
import shutil
from typing import Any, cast

from silas.errors import ConfigError, SilasError
from silas.sandbox.owner_answer import ask_owner_program

_SECONDS = 20.0
_ELSE = "set channels.web.phone.port to another"


class Tailscale:
    """The program `tailscale` of this machine.

    Args:
        program: Its absolute path; empty where there is none.
    """

    def __init__(self, program: str) -> None:
        self._program = program

    @classmethod
    def find_program(cls) -> "Tailscale":
        """As the `PATH` has it."""
        return cls(shutil.which("tailscale") or "")

    @property
    def installed(self) -> bool:
        """Whether it is there."""
        return bool(self._program)

    async def name(self) -> str:
        """The name of this machine in its network, such as `box.tail1234.ts.net`.

        Raises:
            ConfigError: `E_CFG_TAILSCALE`: it is not installed, or not connected.
        """
        status = await self._document("status", "--json")
        state = status.get("BackendState")
        if state != "Running":
            raise _no(f"Tailscale is not connected (it says {state}); run `tailscale up`")
        own = status.get("Self")
        name = cast(dict[str, Any], own).get("DNSName") if isinstance(own, dict) else None
        if not isinstance(name, str) or not name.strip("."):
            raise _no("Tailscale gives this machine no name; switch MagicDNS on")
        return name.strip(".").lower()

    async def serve(self, name: str, port: int, target: str) -> None:
        """Let this network's devices reach `target` at `https://name:port`, until `end`.

        Raises:
            ConfigError: `E_CFG_TAILSCALE`: the port is taken, open to the internet, or refused.
        """
        there = await self._document("serve", "status", "--json")
        if _of(there, "AllowFunnel").get(f"{name}:{port}"):
            raise _no(f"Port {port} is open to the internet by `tailscale funnel`; {_ELSE}")
        web = _of(there, "Web").get(f"{name}:{port}")
        ours = {"Handlers": {"/": {"Proxy": target}}}  # of a Silas that was killed
        if web != ours and (web or str(port) in _of(there, "TCP")):
            raise _no(f"`tailscale serve` has something else at port {port}; {_ELSE}")
        await self._ask("serve", "--bg", f"--https={port}", target)
        there = await self._document("serve", "status", "--json")
        if _of(there, "AllowFunnel").get(f"{name}:{port}"):
            await self.end(port)
            raise _no(f"Tailscale opened port {port} to the internet, so it was closed again")

    async def end(self, port: int) -> None:
        """Serve no more. Raises `ConfigError` as `serve`."""
        await self._ask("serve", f"--https={port}", "off")

    async def _document(self, *arguments: str) -> dict[str, Any]:
        said = await self._ask(*arguments)
        try:
            found: object = json.loads(said or b"{}")
        except ValueError as error:
            raise _no("Tailscale gave an answer that is not JSON; update it") from error
        return cast(dict[str, Any], found) if isinstance(found, dict) else {}

    async def _ask(self, *arguments: str) -> bytes:
        if not self._program:
            raise _no("Tailscale is not installed; install it, or choose another way")
        try:
            return await ask_owner_program((self._program, *arguments), _SECONDS)
        except SilasError as error:
            raise _no(error.message.rstrip(".")) from error


def _of(document: dict[str, Any], key: str) -> dict[str, Any]:
    found = document.get(key)
    return cast(dict[str, Any], found) if isinstance(found, dict) else {}


def _no(words: str) -> ConfigError:
    return ConfigError(f"{words}.", code="E_CFG_TAILSCALE")
