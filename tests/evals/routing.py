"""Where a turn goes, and in which register and mode: what an assistant should decide.

Each case says what is right for any assistant. `known` says whether the built-in runbook model gets
it right, which knows its runbooks and their sentences and nothing else.
"""

from typing import NamedTuple

from pydantic_evals import Case, Dataset

from tests.evals.judging import Cases, Expected, RegisterIsRight, RouteIsRight
from tests.evals.turns import Said

DIRECT, PLANNER = "direct", "planner"


class _Row(NamedTuple):
    text: str
    route: str
    known: bool = True


_ROUTES = (
    _Row("Hello!", DIRECT),
    _Row("Thanks, that was quick.", DIRECT),
    _Row("What is the capital of Portugal?", DIRECT),
    _Row("How do I undo my last commit in git?", DIRECT),
    _Row("Explain what a race condition is.", DIRECT),
    _Row("Is anything of yours still running?", DIRECT),
    _Row("What did you change in my project yesterday?", DIRECT),
    _Row("Remember that I take my coffee black.", DIRECT),
    _Row("What do you remember about my coffee?", DIRECT),
    _Row("Who are you, and what can you do?", DIRECT),
    _Row("Would you take Rust or Go for a small command line tool?", DIRECT),
    _Row("That report you wrote was exactly what I needed.", DIRECT),
    _Row("I am in a meeting until three.", DIRECT),
    _Row("What does exit code 137 mean?", DIRECT),
    _Row("How many bytes are in a megabyte?", DIRECT),
    _Row("I think I broke my leg.", DIRECT),
    _Row("Bonjour, tu parles français ?", DIRECT),
    _Row("Why do tests sometimes fail only on the build server?", DIRECT),
    _Row("The tests were green yesterday, by the way.", DIRECT),
    _Row("Do not run the tests, I am still editing.", DIRECT),
    _Row("Somebody told me to fix the bug myself, can you imagine?", DIRECT),
    _Row("Fix the failing test in {place}", PLANNER),
    _Row("fix the tests", PLANNER),
    _Row("Please make the tests pass in {place}.", PLANNER),
    _Row("Run the tests in {place}", PLANNER),
    _Row("Could you run the test suite for me?", PLANNER),
    _Row("Are the tests green?", PLANNER),
    _Row("List the files in {place}", PLANNER),
    _Row("Show me the directory {place}", PLANNER),
    _Row("Apply the lint fixes in {place}", PLANNER),
    _Row("The build is failing, please repair it.", PLANNER),
    _Row("There is a bug in {place}, fix it.", PLANNER),
    _Row("FIX THE LINTER ERRORS", PLANNER),
    _Row("Add a --json option to the export command in {place}", PLANNER, known=False),
    _Row("Rename the function answer to result everywhere in {place}", PLANNER, known=False),
    _Row("Write a script that backs up {place} every night", PLANNER, known=False),
    _Row("Delete all log files older than a week in {place}", PLANNER, known=False),
    _Row("Send Anna the report of last week", PLANNER, known=False),
    _Row("Sort my photos into folders by year", PLANNER, known=False),
    _Row("Deploy version 2 to staging", PLANNER, known=False),
    _Row("Find out why the nightly backup fails and mend it", PLANNER, known=False),
    _Row("pytest says answer() returns 41 instead of 42, sort it out", PLANNER, known=False),
)

ROUTING: Cases = Dataset(
    name="routing",
    cases=[
        Case(name=text, inputs=Said(text), metadata=Expected(route, known=known))
        for text, route, known in _ROUTES
    ],
    evaluators=[RouteIsRight()],
)


class _Register(NamedTuple):
    text: str
    register: str
    mode: str
    known: bool = False
    before: tuple[str, ...] = ()


_REGISTERS = (
    _Register("Fix the failing test in {place}", "execution", "act_and_report", True),
    _Register("Run the tests in {place}", "execution", "act_and_report", True),
    _Register("List the files in {place}", "execution", "act_and_report", True),
    _Register("Apply the lint fixes in {place}", "execution", "act_and_report", True),
    _Register("Make the tests pass in {place}", "execution", "act_and_report", True),
    _Register("Repair the failing build in {place}", "execution", "act_and_report", True),
    _Register("Rename answer to result in {place}", "execution", "act_and_report"),
    _Register("Write the release notes for version 2", "execution", "act_and_report"),
    _Register("What is still running?", "status", "default_and_offer", True),
    _Register("How far are you?", "status", "default_and_offer", True),
    _Register("Is the backup done?", "status", "default_and_offer", True),
    _Register("What did you do today?", "status", "default_and_offer", True),
    _Register("Did anything fail last night?", "status", "default_and_offer", True),
    _Register("Which plans wait for me?", "status", "default_and_offer", True),
    _Register(
        "Which database would you take for a small shop?", "exploration", "default_and_offer"
    ),
    _Register("What are my options for hosting photos?", "exploration", "default_and_offer"),
    _Register("How could we make the start faster?", "exploration", "default_and_offer"),
    _Register("Let us think about the structure of the talk.", "exploration", "default_and_offer"),
    _Register("Give me three names for the new service.", "exploration", "default_and_offer"),
    _Register("What speaks against a monorepo?", "exploration", "default_and_offer"),
    _Register("Is this diff good?", "review", "confirm_only_when_required"),
    _Register("Look over my text before I send it.", "review", "confirm_only_when_required"),
    _Register("What is wrong with this plan?", "review", "confirm_only_when_required"),
    _Register("Judge the three drafts against each other.", "review", "confirm_only_when_required"),
)

INTERACTION: Cases = Dataset(
    name="interaction",
    cases=[
        Case(
            name=row.text,
            inputs=Said(row.text, row.before),
            metadata=Expected(register=row.register, mode=row.mode, known=row.known),
        )
        for row in _REGISTERS
    ],
    evaluators=[RegisterIsRight()],
)
