"""`silas start --phone` as its owner meets it: on a terminal, beside a running one, and refused."""

import json
import re
from pathlib import Path

import pytest

from silas.main.phone import draw_code
from silas.services.phone.qr import QUIET, qr_rows
from tests.support.command import environment, person, run, silas


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    env = environment(
        tmp_path / "home",
        SILAS_CHANNELS__WEB__PHONE__PORT="0",
        SILAS_CHANNELS__WEB__PHONE__CERTIFICATE_PORT="0",
    )
    assert run(silas("init"), env).code == 0
    return env


def finding(env: dict[str, str]) -> dict[str, str]:
    found: list[dict[str, str]] = json.loads(run(silas("doctor", "--json"), env).out)
    [one] = [row for row in found if row["part"] == "phone"]
    return one


def test_on_a_terminal_it_shows_two_codes_the_fingerprint_and_what_it_gives(
    home: dict[str, str],
) -> None:
    assert "not open" in finding(home)["words"]
    closed = run(silas("devices", "link", "--phone"), home)
    assert (closed.code, closed.err.count("\n")) == (2, 1)
    assert "silas start --phone" in closed.err
    with person(silas("start", "--port", "0", "--phone", "--phone-address", "lo"), home) as owner:
        owner.waits_for("A fresh pairing link: silas devices link --phone")
        seen = re.sub(r"\x1b\[[0-9;]*m", "", owner.seen)
        for words in (
            "Everybody in the network sees that Silas is there",
            "1. Trust this computer, once.",
            "2. Pair the phone.",
        ):
            assert words in " ".join(seen.split())
        assert re.search(r"https://127\.0\.0\.1:\d+/pair#[0-9a-f]{64}", seen)
        [steps] = re.findall(r"http://127\.0\.0\.1:\d+/\n", seen)
        first = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in draw_code(qr_rows(steps.strip()))]
        assert all(line in seen for line in first)
        assert re.search(r"(?m)^ +([0-9A-F]{2}:){15}[0-9A-F]{2}$", seen)
        one = finding(home)
        assert one["state"] == "ok"
        assert re.search(
            r"open at https://127\.0\.0\.1:\d+; its certificate counts until", one["words"]
        )
        link = run(silas("devices", "link", "--phone"), home)
        assert re.fullmatch(r"https://127\.0\.0\.1:\d+/pair#[0-9a-f]{64}\n", link.out)
        owner.types("\x03")
        assert owner.leaves() == 0
    assert "not open" in finding(home)["words"]


def test_an_address_that_is_not_there_ends_the_start_in_one_sentence(home: dict[str, str]) -> None:
    wrong = run(silas("start", "--port", "0", "--phone", "--phone-address", "10.9.9.9"), home)
    assert wrong.code == 2
    assert "no address or interface 10.9.9.9" in wrong.err
    assert (
        "--phone-address goes with --phone"
        in run(silas("start", "--phone-address", "lo"), home).err
    )


def test_where_the_configuration_asks_for_it_a_start_goes_on_without(home: dict[str, str]) -> None:
    away = {
        **home,
        "SILAS_CHANNELS__WEB__PHONE__ENABLED": "true",
        "SILAS_CHANNELS__WEB__PHONE__ADDRESS": "10.9.9.9",
    }
    with person(silas("start", "--port", "0"), away) as owner:
        owner.waits_for("Silas is not open for your phone: This machine has no address")
        owner.types("\x03")
        assert owner.leaves() == 0


def test_a_code_is_drawn_whole_dark_on_light() -> None:
    rows = qr_rows("https://192.168.1.20:8421/pair#" + "a" * 64)
    assert {len(row) for row in rows} == {len(rows)}
    assert all(set(row) == {"0"} for row in (*rows[:QUIET], *rows[-QUIET:]))
    finder = [row[QUIET : QUIET + 7] for row in rows[QUIET : QUIET + 7]]
    assert finder == ["1111111", "1000001", "1011101", "1011101", "1011101", "1000001", "1111111"]
    lines = draw_code(rows)
    assert len(lines) == (len(rows) + 1) // 2
    assert all(line.startswith("\x1b[38;5;16m\x1b[48;5;231m") for line in lines)


def test_a_german_terminal_says_in_german_how_the_phone_gets_in(home: dict[str, str]) -> None:
    env = {**home, "SILAS_LANGUAGE": "de"}
    with person(silas("start", "--port", "0", "--phone", "--phone-address", "lo"), env) as owner:
        owner.waits_for("silas devices link --phone")
        seen = " ".join(re.sub(r"\x1b\[[0-9;]*m", "", owner.seen).split())
        for words in (
            "Für dein Telefon: https://",
            "1. Vertraue einmal diesem Rechner. Öffne auf dem Telefon:",
            "2. Kopple das Telefon.",
            "Ein neuer Link zum Koppeln: silas devices link --phone",
        ):
            assert words in seen
        owner.types("\x03")
        assert owner.leaves() == 0
