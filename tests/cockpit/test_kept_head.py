"""Paired devices keep the newest signed head of the record, and tell when the record lacks it."""

import json
import shutil
import sqlite3
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.typing import Origin

from silas.audit.kept_head import KeptAuditLog
from silas.channels.web.wire import Auth
from silas.errors import DatabaseError, Stopped
from silas.testing.approval import a_decision, a_signer, a_subject
from tests.channels.web.test_the_whole_house import cookie_of, pair
from tests.cockpit.program_page import a_page
from tests.web.support.cockpit import Cockpit, Home, a_cockpit


class Phone:
    """A paired browser that keeps what the page keeps: cookie, page token and newest head."""

    def __init__(self) -> None:
        self.cookie = self.token = self.head = ""

    async def pair(self, cockpit: Cockpit) -> None:
        token = (await cockpit.link()).partition("#")[2]
        answer = await pair(cockpit, token, signer=a_signer("phone"))
        self.cookie, self.token = cookie_of(answer), json.loads(answer.body)["page_token"]

    async def opens(self, cockpit: Cockpit) -> str:
        """The page comes up; the words that it shows about a changed record."""
        origin = cockpit.origin
        name, _, value = self.cookie.partition("=")
        port = origin.rpartition(":")[2]
        cookie = f"{name.rpartition('_')[0]}_{port}={value}"
        async with connect(
            origin.replace("http", "ws") + "/ws",
            origin=Origin(origin),
            additional_headers={"Cookie": cookie},
            proxy=None,
        ) as page:
            sent = {"type": "auth", "token": self.token, "after": 0, "head": self.head}
            await page.send(json.dumps(sent))
            state: dict[str, Any] = json.loads(await page.recv())
        assert state["type"] == "stream_state"
        self.head = state["head"] or self.head
        return str(state["changed"])


def log_of(cockpit: Cockpit) -> KeptAuditLog:
    audit = cockpit.running.silas.audit
    assert isinstance(audit, KeptAuditLog)
    return audit


def edit_record(cockpit: Cockpit) -> None:
    """Other words in the past, the hashes left as they were."""
    with closing(sqlite3.connect(cockpit.config.data_dir / "silas.db")) as driver:
        driver.execute("DROP TRIGGER audit_log_no_update")
        driver.execute("UPDATE audit_log SET body = replace(body, 'stream_', 'dream_')")
        driver.commit()


def seq_in(line: str) -> int:
    """Which entry a head is of."""
    return int(json.loads(line)["checkpoint"]["seq"])


async def link_of(cockpit: Cockpit) -> tuple[str, str]:
    """Where a page pairs, and with what."""
    return cockpit.origin, await cockpit.link()


@asynccontextmanager
async def put_back(home: Home, phone: Phone) -> AsyncGenerator[Cockpit]:
    """A cockpit whose whole data directory was put back behind what the phone was told."""
    async with a_cockpit(home) as cockpit:
        port = int(cockpit.origin.rpartition(":")[2])
        await phone.pair(cockpit)
        assert await phone.opens(cockpit) == ""
        data = cockpit.config.data_dir
    shutil.copytree(data, home.home / "copy", symlinks=True)
    async with a_cockpit(home, port=port) as cockpit:
        await log_of(cockpit).log("turn_finished", outcome="answered")
    async with a_cockpit(home, port=port) as cockpit:
        assert await phone.opens(cockpit) == ""
    shutil.rmtree(data)
    shutil.copytree(home.home / "copy", data, symlinks=True)
    async with a_cockpit(home, port=port) as cockpit:
        yield cockpit


async def test_a_device_that_was_told_a_later_head_stops_effects(tmp_path: Path) -> None:
    phone = Phone()
    async with put_back(Home(tmp_path), phone) as cockpit:
        silas = cockpit.running.silas
        await silas.approval.issue_token(a_subject(), a_decision())  # nothing here remembers
        words = await phone.opens(cockpit)
        assert "The record was changed outside Silas" in words
        assert "the device a phone has it" in words
        with pytest.raises(Stopped):
            await silas.approval.issue_token(a_subject(), a_decision())


async def test_what_a_device_told_is_remembered_until_the_owner_accepts(tmp_path: Path) -> None:
    phone, home = Phone(), Home(tmp_path)
    async with put_back(home, phone) as cockpit:
        port = int(cockpit.origin.rpartition(":")[2])
        assert await phone.opens(cockpit)
    async with a_cockpit(home, port=port) as cockpit:
        silas, log = cockpit.running.silas, log_of(cockpit)
        with pytest.raises(Stopped):  # before any device has said anything
            await silas.approval.issue_token(a_subject(), a_decision())
        stale = phone.head
        await log.accept(await log.head())
        assert await phone.opens(cockpit) == ""  # it was signed before the owner accepted
        assert phone.head != stale
        assert await silas.approval.issue_token(a_subject(), a_decision())


async def test_a_page_that_is_there_is_told_each_head_that_is_signed_and_a_change(
    tmp_path: Path,
) -> None:
    async with a_cockpit(Home(tmp_path)) as cockpit, a_page(*await link_of(cockpit)) as page:
        first = (await page.connect())["head"]
        log = log_of(cockpit)
        for _ in range(2):
            await log.log("turn_finished", outcome="answered")
            await log.write_checkpoint()
            told = await page.next("record")
            assert told["changed"] == ""
            assert seq_in(told["head"]) > seq_in(first)
            assert told["head"] == log.newest_line()
            first = told["head"]
        edit_record(cockpit)
        with pytest.raises(DatabaseError):
            await log.write_checkpoint()
        told = await page.next("record")
        assert "The record was changed outside Silas" in told["changed"]
        assert told["head"] == ""


async def test_a_head_that_the_owner_did_not_sign_says_nothing(tmp_path: Path) -> None:
    phone = Phone()
    async with a_cockpit(Home(tmp_path)) as cockpit:
        await phone.pair(cockpit)
        await phone.opens(cockpit)
        for forged in ("x", "{}", phone.head.replace('"seq":', '"seq":9'), "{" * 900):
            phone.head = forged
            assert await phone.opens(cockpit) == ""
    with pytest.raises(ValueError, match="at most 1000"):
        Auth(type="auth", token="t", head="x" * 1001)


async def test_a_page_shows_that_the_record_was_edited(tmp_path: Path) -> None:
    home, phone = Home(tmp_path), Phone()
    async with a_cockpit(home) as cockpit:
        port = int(cockpit.origin.rpartition(":")[2])
        await phone.pair(cockpit)
    edit_record(cockpit)
    async with a_cockpit(home, port=port) as cockpit:
        assert "The record was changed outside Silas" in await phone.opens(cockpit)
        assert phone.head == ""  # a head of a changed record is nobody's to keep
