"""Servers of tools in a home's file, and the form that changes one."""

import json
from collections.abc import Mapping
from typing import Any

from playwright.async_api import Locator, expect

from tests.web.support.cockpit import Home
from tests.web.support.device import Device


def servers_of(home: Home) -> dict[str, Any]:
    """What the file says of every server."""
    text = (home.home / "config.yaml").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)["silas"]["mcpServers"]
    return found


def put_servers(home: Home, settings: Mapping[str, Any]) -> None:
    """Write these settings beside those that the file has."""
    file = home.home / "config.yaml"
    before: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))["silas"]
    file.write_text(json.dumps({"silas": {**before, **settings}}), encoding="utf-8")


async def is_usable(device: Device) -> None:
    """Nothing is wider than the screen, and nothing breaks a rule of access."""
    assert await device.violations() == []
    assert await device.overflow() == 0


async def form_that_changes(device: Device, name: str) -> Locator:
    """The form that a server's row opens."""
    row = device.page.locator(f"[data-server={name}]")
    await row.get_by_role("button", name=f"Change {name}").click()
    form = device.at("changed-server")
    await expect(form.get_by_label("It is", exact=True)).to_be_focused()
    return form
