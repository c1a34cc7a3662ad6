"""The built-in model keeps what it is told to, word for word, and recalls it; nothing more."""

import pytest

from silas.agents.models import MemoryOpType
from silas.agents.runbook import undo_and_stop
from silas.agents.runbook.memory import implied_recall, recall_question, to_keep
from silas.context import FramedSection
from silas.memory import MemoryType
from silas.testing import Harness
from tests.stream.kit import said, soon


@pytest.mark.parametrize(
    ("text", "content", "kind"),
    [
        ("remember that my cat is Mia", "my cat is Mia", MemoryType.fact),
        ("Silas, please remember: the code is\n  4711", "the code is\n  4711", MemoryType.fact),
        ("Don't forget that I moved", "I moved", MemoryType.fact),
        ("Keep in mind that nobody is in on Mondays.", "nobody is in on Mondays.", MemoryType.fact),
        ("from now on, name the date", "name the date", MemoryType.preference),
        ("remember: always name the date", "always name the date", MemoryType.preference),
    ],
)
def test_what_it_is_told_to_remember_it_keeps_in_these_words(
    text: str, content: str, kind: MemoryType
) -> None:
    op = to_keep(text)
    assert op is not None
    assert (op.op, op.content, op.memory_type) == (MemoryOpType.store, content, kind)


@pytest.mark.parametrize(
    "text",
    ["", "remember", "remember?", "I remember that day", "do you remember me?", "forget my cat",
     "fix the failing test", "do not remember that I moved"],
)  # fmt: skip
def test_nothing_else_is_kept(text: str) -> None:
    assert to_keep(text) is None


@pytest.mark.parametrize(
    ("text", "about", "everything"),
    [
        ("what do you remember about my cat?", "my cat", False),
        ("What do you know about Mia", "Mia", False),
        ("hi, what did I say about the code?!", "the code", True),
        ("what did i tell you about Bern?", "Bern", True),
        ("Do you remember the weir?", "the weir", False),
    ],
)
def test_a_question_about_what_is_remembered_is_looked_up(
    text: str, about: str, everything: bool
) -> None:
    question = recall_question(text)
    assert question is not None
    assert question == (about, everything)


@pytest.mark.parametrize("text", ["", "what is 2 + 2?", "remember my cat", "what do cats know"])
def test_no_other_question_is(text: str) -> None:
    assert recall_question(text) is None


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("when is my wife's birthday?", "my wife's birthday"),
        ("When's our anniversary", "our anniversary"),
        ("do you know when my wife's birthday is?", "my wife's birthday"),
        ("when is Odile's birthday?", "Odile's birthday"),
        ("do you know where my passport is", "my passport"),
        ("where are my keys?", "my keys"),
        ("Where did I put the spare key?", "the spare key"),
        ("tell me where my passport is", "my passport"),
        ("who is my dentist", "my dentist"),
        ("Who's my landlord again?", "my landlord"),
        ("do you know who my dentist is?", "my dentist"),
        ("do you still know my shoe size?", "my shoe size"),
        ("what is my landlord called?", "my landlord"),
        ("what is the dentist called?", "dentist"),
        ("What's the name of my landlord again?", "my landlord"),
        ("what's my wifi password", "my wifi password"),
        ("what did I say the wifi password was?", "the wifi password"),
        ("did I tell you about the boiler?", "the boiler"),
        ("have I told you about the boiler", "the boiler"),
        ("remind me what I said about the boiler", "the boiler"),
        ("remind me where my passport is", "my passport"),
    ],
)
def test_a_question_that_only_the_memory_could_answer_is_looked_up(text: str, about: str) -> None:
    question = implied_recall(text)
    assert question is not None
    assert question == (about, False)


@pytest.mark.parametrize(
    "text",
    ["", "who is the president", "when is christmas", "where is Bob?", "what is love",
     "what is the name of the biggest file", "what's the biggest file here",
     "do you know Berlin?", "remind me to call Odile",
     "remember my passport", "where did you put the file", "when is my " + "very " * 100 + "day"],
)  # fmt: skip
def test_what_is_nobodys_own_is_not_looked_up(text: str) -> None:
    assert implied_recall(text) is None


KEPT = {
    "remember that my wife's birthday is on 3 May": (
        "when is my wife's birthday?",
        "do you know when my wife's birthday is?",
        "what do you know about my wife's birthday",
    ),
    "remember: my passport lies in the blue drawer": (
        "where is my passport?",
        "do you know where my passport is",
        "what did I tell you about my passport?",
    ),
    "keep in mind that my dentist is called Odile": (
        "who is my dentist",
        "do you know who my dentist is?",
        "what is my dentist called?",
    ),
}


async def test_what_was_kept_is_found_however_it_is_asked_for() -> None:
    async with Harness() as h:
        for told in KEPT:
            assert (await soon(h.silas.ask(told))).outcome == "answered"
        for told, questions in KEPT.items():
            kept = told.split(maxsplit=2)[2].removeprefix("mind that ")
            for question in questions:
                reply = await soon(h.silas.ask(question))
                assert (reply.outcome, reply.plan) == ("answered", None)
                assert kept[-20:] in reply.text, (question, reply.text)


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("what are my notes?", ""),
        ("show my notes", ""),
        ("Show me all my notes", ""),
        ("my notes", ""),
        ("my notes about the boiler", "the boiler"),
        ("what did I note about the boiler?", "the boiler"),
        ("what have I noted?", ""),
        ("do I have any notes on the boiler?", "the boiler"),
        ("welche Notizen habe ich?", ""),
        ("welche Notizen habe ich zum Kessel?", "Kessel"),
        ("zeig mir meine Notizen", ""),
        ("meine Notizen", ""),
        ("was habe ich notiert?", ""),
        ("was habe ich mir über den Kessel notiert?", "den Kessel"),
    ],
)
def test_a_question_for_what_was_noted_is_one_for_the_memory(text: str, about: str) -> None:
    assert recall_question(text) == (about, False)


@pytest.mark.parametrize(
    "text",
    ["delete my notes.txt", "show my notes.txt", "notes", "rename my notes to x.txt", "", "?",
     "open notes", "welche Dateien habe ich?", "zeig mir die Dateien"],
)  # fmt: skip
def test_a_file_of_notes_is_no_question_for_what_was_noted(text: str) -> None:
    assert recall_question(text) is None


async def test_what_was_noted_is_found_as_my_notes_and_by_its_words() -> None:
    async with Harness() as h:
        for told in ("note: buy milk", "note that the boiler is from 2019"):
            assert (await soon(h.silas.ask(told))).outcome == "answered"
        for question in ("what are my notes?", "show my notes", "welche Notizen habe ich?"):
            reply = await soon(h.silas.ask(question))
            assert reply.text.endswith("\n- the boiler is from 2019\n- buy milk"), reply.text
            assert reply.outcome == "answered"
        reply = await soon(h.silas.ask("what did I note about the boiler?"))
        assert reply.text == "I remember:\n- the boiler is from 2019"


KEPT_IN_GERMAN = {
    "merke dir, dass mein Arzt Dr. Huber heißt": ("wie heißt mein Arzt?", "wer ist mein Arzt"),
    "Bitte merk dir: meine Schuhgröße ist 43": ("was ist meine Schuhgröße?",),
    "vergiss nicht, dass mein Pass im blauen Fach liegt": ("wo ist mein Pass?",),
    "notier dir, dass mein Klempner Fux heißt": ("wie heißt mein Klempner?",),
    "schreib dir auf, dass mein Rad im Keller steht": ("wo ist mein Rad?",),
    "notiere: unsere Steuernummer ist 4711": ("wie ist unsere Steuernummer?",),
}


async def test_what_was_kept_in_german_is_found_in_german() -> None:
    async with Harness() as h:
        for told in KEPT_IN_GERMAN:
            assert (await soon(h.silas.ask(told))).outcome == "answered"
        for told, questions in KEPT_IN_GERMAN.items():
            for question in questions:
                reply = await soon(h.silas.ask(question))
                assert told[-12:] in reply.text, (question, reply.text)
        known = await soon(h.silas.ask("was weißt du über mich?"))
        assert [line[-12:] for line in known.text.splitlines()[1:]] == [
            told[-12:] for told in reversed(KEPT_IN_GERMAN)
        ]


@pytest.mark.parametrize(
    "text",
    ["forget that my passport is in the drawer", "bitte vergiss, dass mein Arzt Dr. Huber heißt"],
)
async def test_to_forget_a_fact_is_told_where_it_is_done(text: str) -> None:
    async with Harness() as h:
        reply = await soon(h.silas.ask(text))
        assert "silas memory forget" in reply.text
        assert reply.outcome == "failed"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("what happened today?", "I have done nothing today."),
        ("What did you do yesterday", "I have done nothing yesterday."),
        ("was ist heute passiert?", "I have done nothing today."),
        ("was hast du heute gemacht?", "I have done nothing today."),
        ("what's on today?", "Nothing comes by the clock today"),
        ("what is planned for tomorrow?", "Nothing comes by the clock tomorrow"),
        ("was steht heute an?", "Nothing comes by the clock today"),
    ],
)
async def test_what_happened_and_what_comes_is_told_where_it_stands(text: str, words: str) -> None:
    async with Harness() as h:
        reply = await soon(h.silas.ask(text))
        assert words in reply.text
        assert (reply.outcome, reply.plan) == ("answered", None)


async def test_who_may_not_look_into_the_memory_is_not_told_that_it_was_answered() -> None:
    async with Harness() as h:
        await soon(h.silas.ask("remember that my wife's birthday is on 3 May"))
        for question in ("when is my wife's birthday?", "what do you remember about my wife?"):
            asked_by = said(h, question, "desk-7", sender="eve")
            reply = await soon(h.silas.stream.handle(asked_by))
            assert (reply.text, reply.outcome) == (
                "I may not look into my memory here.",
                "failed",
            )


@pytest.mark.parametrize(
    ("texts", "command"),
    [
        (("undo that", "Please undo it!", "take that back", "undo", "revert the last change"),
         "silas undo"),
        (("stop", "Stop!", "please stop that now", "cancel", "stop what you are doing"),
         "silas stop"),
    ],
)  # fmt: skip
async def test_undo_and_stop_name_the_owners_command_and_do_nothing(
    texts: tuple[str, ...], command: str
) -> None:
    async with Harness() as h:
        for text in texts:
            reply = await soon(h.silas.ask(text))
            assert command in reply.text
            assert (reply.outcome, reply.plan) == ("failed", None)


@pytest.mark.parametrize(
    "text", ["undo the knot", "stop the music", "don't stop", "cancel my subscription", "halt!?x"]
)
def test_other_words_about_stopping_are_not_taken_for_it(text: str) -> None:
    assert undo_and_stop.answer(text, []) is None


def test_undo_names_the_newest_work_in_view() -> None:
    shown = [
        FramedSection("execution_result", (), f"work item task-{n}: done") for n in ("old", "new")
    ]
    answer = undo_and_stop.answer("undo that", shown)
    assert answer is not None
    assert "silas undo task-new" in answer.message
    assert not answer.understood
