"""Without a language model: what people say in a first week, in one scripted talk a language.

Each row is a message and words of its answer. Nothing here is work: no card is shown.
"""

from pathlib import Path

import pytest

from silas.testing import Harness, ScriptedChannel
from tests.stream.kit import soon

ENGLISH = {
    "what's my name": "I remember nothing that fits",
    "my name is Kim": "I keep this as a fact, in your words: my name is Kim",
    "what is my name": "- my name is Kim",
    "who am i?": "- my name is Kim",
    "call me Kimberley Ann": "I keep this as a fact, in your words: call me Kimberley Ann",
    "what am I called": "- call me Kimberley Ann",
    "call me Monday": "cannot make calls",
    "call me a taxi": "cannot make calls",
    "I live in Vienna": "I live in Vienna",
    "where do I live": "- I live in Vienna",
    "my birthday is on 4 May": "my birthday is on 4 May",
    "when is my birthday": "4 May",
    "I am allergic to nuts": "I keep this as a fact",
    "what am I allergic to?": "nuts",
    "my favourite colour is green": "I keep this as a fact",
    "what is my favourite colour": "green",
    "remember that the wifi password is on the fridge": "I keep this as a fact",
    "where is the wifi password": "on the fridge",
    "my son is ill today": "do not understand",
    "is my name on the list": "do not understand",
    "what's new": "`silas audit show`",
    "what's up": "`silas ahead`",
    "how do I add a model": "`silas setup`",
    "how can I use ollama": "`silas setup`",
    "which model are you using": "None: I am Silas without a language model",
    "are you ChatGPT?": "None: I am Silas without a language model",
    "speak german": "`silas config set language de`",
    "change the language": "`silas config set language de`",
    "do you speak English?": "I speak English and German",
    "use dark mode": "makes the page dark or light",
    "turn off notifications": "has the quiet hours",
    "don't disturb me at night": "has the quiet hours",
    "how much have you cost": "I cost nothing",
    "is my data private?": "lies on this machine",
    "where are my files stored": "lies on this machine",
    "status": "Nothing runs, and nothing waits for you.",
    "what runs by itself?": "`silas ahead`",
    "how do I undo": "`silas undo ID`",
    "can I undo that?": "`silas undo ID`",
    "what version are you": "I am Silas 0.",
    "who made you": "a program on this machine",
    "you're great": "Thank you.",
    "ok cool": "All right.",
    "haha": "All right.",
    "you are stupid": "I am sorry.",
    "that doesn't work": "I am sorry.",
    "set a timer": "set a timer for 10 minutes",
    "shwo me the files": "Did you mean “show me the files”?",
    "delte notes.txt": "Did you mean “delete notes.txt”?",
    "remnd me tomorow at 9 to call Tom": "Did you mean “remind me tomorrow at 9 to call Tom”?",
    "qwertz notes.txt": "do not understand",
    "find everything about milk": "notes.txt:1: buy milk",
}
GERMAN = {
    "ich heiße Kim": "Das merke ich mir als Tatsache",
    "wie heiße ich?": "- ich heiße Kim",
    "wie heisse ich": "- ich heiße Kim",
    "wie ist mein Name": "- ich heiße Kim",
    "ich wohne in Wien": "Das merke ich mir als Tatsache",
    "wo wohne ich": "- ich wohne in Wien",
    "mein Geburtstag ist am 4. Mai": "mein Geburtstag ist am 4. Mai",
    "wann ist mein Geburtstag": "4. Mai",
    "merk dir, dass der Schlüssel im Keller liegt": "der Schlüssel im Keller liegt",
    "wo ist der Schlüssel": "im Keller",
    "was gibt es Neues": "`silas ahead`",
    "wie füge ich ein Modell hinzu": "`silas setup`",
    "welches Modell benutzt du": "Keines",
    "sprich englisch": "`silas config set language de`",
    "aendere die Sprache": "`silas config set language de`",
    "kannst du Englisch": "Ich spreche Englisch und Deutsch",
    "stör mich nachts nicht": "hat die Ruhezeit",
    "wie viel hast du gekostet": "koste ich nichts",
    "sind meine Daten sicher": "liegt auf diesem Rechner",
    "was läuft von selbst": "`silas ahead`",
    "wie mache ich etwas rückgängig": "`silas undo ID`",
    "mach das rueckgaengig": "mache ich nichts rückgängig",
    "welche Version bist du": "Ich bin Silas 0.",
    "danke dir": "Gern geschehen",
    "alles klar": "Gut. Was soll ich tun?",
    "du bist doof": "Das tut mir leid.",
    "oeffne notes.txt": "buy milk",
    "welche Datei ist die groesste": "notes.txt",
}


@pytest.mark.parametrize(("language", "talk"), [("en", ENGLISH), ("de", GERMAN)])
async def test_a_first_week_is_answered(
    language: str, talk: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "notes.txt").write_text("buy milk\n")
    channel, wrong = ScriptedChannel(), list[str]()
    async with Harness(channel, settings={"language": language}) as h:
        for text, words in talk.items():
            said = (await soon(h.silas.ask(text, workspace=tmp_path))).text
            wrong += [] if words in said else [f"{text}: {said}"]
    assert wrong == []
    assert channel.cards == []


async def test_what_is_asked_for_in_plain_letters_is_done_as_with_umlauts(tmp_path: Path) -> None:
    (tmp_path / "todo.txt").write_text("eins\n")
    channel = ScriptedChannel()
    async with Harness(channel, settings={"language": "de"}) as h:
        for text in ("loesche todo.txt", "fuege fuer Oma backen zu todo.txt hinzu"):
            await soon(h.silas.ask(text, workspace=tmp_path))
    first, second = channel.cards
    assert first.intent == "Eine Datei löschen"
    assert "fuer Oma backen" in str(second)  # the words that are kept are his
