"""A paired browser keeps the newest head: it notices a record that went behind it, and says so."""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from silas.audit.kept_head import KeptAuditLog
from silas.config import SilasConfig
from silas.errors import Stopped
from silas.testing.approval import a_decision, a_subject
from tests.web.support.chromium import in_a_browser
from tests.web.support.cockpit import Cockpit, Home, a_cockpit
from tests.web.support.device import devices
from tests.web.support.library import COPY

pytestmark = in_a_browser
KEPT = "localStorage.getItem('silas.head')"


def emptied(config: SilasConfig, copy: Path) -> None:
    """No entry, no checkpoint and no kept head on this machine any more."""
    del copy
    with closing(sqlite3.connect(config.data_dir / "silas.db")) as driver:
        found = driver.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        for (name,) in found.fetchall():
            driver.execute(f"DROP TRIGGER {name}")
        for table in ("audit_log", "audit_checkpoints", "audit_kept"):
            driver.execute(f"DELETE FROM {table}")
        driver.commit()
    (config.data_dir / "keys" / "owner.kept-head.json").unlink()


def put_back(config: SilasConfig, copy: Path) -> None:
    """The whole data directory as it was before what the device was told."""
    shutil.rmtree(config.data_dir)
    shutil.copytree(copy, config.data_dir, symlinks=True)


def log_of(cockpit: Cockpit) -> KeptAuditLog:
    audit = cockpit.running.silas.audit
    assert isinstance(audit, KeptAuditLog)
    return audit


@pytest.mark.parametrize("attack", [emptied, put_back], ids=lambda each: each.__name__)
async def test_a_record_behind_what_the_browser_was_told_shows_a_banner_and_refuses_effects(
    home: Home, browser: Browser, attack: Callable[[SilasConfig, Path], None]
) -> None:
    copy = home.home / "copy"
    async with devices(browser) as new:
        async with a_cockpit(home) as cockpit:
            device = await new(cockpit.origin)
            device.expects_anything()  # there is no server for a while, twice
            await device.pair(await cockpit.link())
            config, port = cockpit.config, int(cockpit.origin.rpartition(":")[2])
        shutil.copytree(config.data_dir, copy, symlinks=True)
        async with a_cockpit(home, port=port) as cockpit:
            await device.is_connected()
            log = log_of(cockpit)
            await log.log("turn_finished", outcome="answered")
            await log.write_checkpoint()
            told = log.newest_line()
            await device.page.wait_for_function(f"line => {KEPT} === line", arg=told)
            await expect(device.at("changed")).to_be_hidden()
        await expect(device.page.locator("#link")).to_have_attribute("data-link", "lost")
        newest = await device.page.evaluate(KEPT)
        attack(config, copy)
        async with a_cockpit(home, port=port) as cockpit:
            banner = device.at("changed")
            await expect(banner).to_contain_text("The record was changed outside Silas")
            await expect(banner).to_contain_text("silas audit accept")
            await device.says(COPY)
            await expect(device.at("heard").last).to_contain_text("The record was changed")
            with pytest.raises(Stopped):
                await cockpit.running.silas.approval.issue_token(a_subject(), a_decision())
            assert await device.page.evaluate(KEPT) == newest  # until the owner has accepted
            assert not home.result.exists()
            accepted = log_of(cockpit)
            await accepted.accept(await accepted.head())
            await expect(banner).to_be_hidden()
            await device.page.wait_for_function(f"line => {KEPT} !== line", arg=newest)
