"""What plans are made, and which questions are asked before: what an assistant should do.

As in `routing`, each case says what is right for any assistant, and `known` whether the built-in
runbook model gets it right.
"""

from typing import NamedTuple

from pydantic_evals import Case, Dataset

from tests.evals.judging import Cases, Expected, PlanIsGood, QuestionIsNeeded
from tests.evals.turns import Said


class _Row(NamedTuple):
    text: str
    checks: tuple[str, ...]
    briefing: tuple[str, ...] = ()
    known: bool = False
    stands_there: bool = False


_TESTS = ("pytest",)
_PLANS = (
    _Row("Fix the failing test in {place}", _TESTS, known=True),
    _Row("fix the tests", _TESTS, known=True, stands_there=True),
    _Row("Make the tests pass", _TESTS, known=True, stands_there=True),
    _Row("There is a bug, please fix the bug in {place}.", _TESTS, known=True),
    _Row("Repair the failing build", _TESTS, known=True, stands_there=True),
    _Row("apply the lint fixes in {place}", _TESTS, known=True),
    _Row("Fix the linter errors here", _TESTS, known=True, stands_there=True),
    _Row("Run the tests in {place}", _TESTS, known=True),
    _Row("run the test suite", _TESTS, known=True, stands_there=True),
    _Row("Are the tests green in {place}?", _TESTS, known=True),
    _Row("Check the tests", _TESTS, known=True, stands_there=True),
    _Row("List the files in {place}", (), known=True),
    _Row("Show the directory {place}", (), known=True),
    _Row("What files are there in {place}?", (), known=True),
    _Row("Add a --version option to app.py in {place}", ("app.py", "pytest"), ("--version",)),
    _Row("In {place}, answer() must return 42 instead of 41", ("42", "pytest"), ("42",)),
    _Row("Rename answer to result in {place}", ("result", "pytest", "grep"), ("result",)),
    _Row("Write a README for {place}", ("README",), ("README",)),
    _Row(
        "Add type hints to app.py in {place}", ("mypy", "pyright", "pytest", "python"), ("app.py",)
    ),
    _Row("Split app.py in {place} into two modules", ("pytest", "python"), ("app.py",)),
    _Row("Write a test for answer() in {place}", _TESTS, ("answer",)),
    _Row(
        "Count the lines of every Python file in {place} into counts.txt",
        ("counts.txt",),
        ("counts",),
    ),
)

PLANNING: Cases = Dataset(
    name="planning",
    cases=[
        Case(
            name=row.text,
            inputs=Said(row.text, stands_there=row.stands_there),
            metadata=Expected(checks=row.checks, briefing=row.briefing, known=row.known),
        )
        for row in _PLANS
    ],
    evaluators=[PlanIsGood()],
)


class _Question(NamedTuple):
    text: str
    asks: bool
    stands_there: bool = False
    known: bool = True


_QUESTIONS = (
    _Question("Fix the failing test in {place}", asks=False),
    _Question("fix the tests", asks=False, stands_there=True),
    _Question("Make the tests pass please", asks=False, stands_there=True),
    _Question("Apply the lint fixes", asks=False, stands_there=True),
    _Question("Run the tests", asks=False, stands_there=True),
    _Question("Are the tests green?", asks=False, stands_there=True),
    _Question("Do the tests pass in {place}?", asks=False),
    _Question("List the files in {place}", asks=False),
    _Question("Repair the failing build here", asks=False, stands_there=True),
    _Question("Fix the bug", asks=False, stands_there=True),
    _Question("Thanks!", asks=False),
    _Question("Good morning", asks=False),
    _Question("What does exit code 1 mean?", asks=False),
    _Question("Remember that I prefer tabs to spaces.", asks=False),
    _Question("Explain recursion to a child.", asks=False),
    _Question("How many hours has a week?", asks=False),
    _Question("Add a comment to app.py that says what it does", asks=False, stands_there=True),
    _Question("Rename answer to result in {place}, keep everything else", asks=False),
    _Question("Show me the directory", asks=False, stands_there=True),
    _Question("What files are there?", asks=False, stands_there=True),
    _Question("Fix the failing test", asks=True),
    _Question("Run the test suite", asks=True),
    _Question("List the files", asks=True),
    _Question("Run the tests in the project, you know which", asks=True),
    _Question("Send the report to him", asks=True, known=False),
    _Question("Delete the old one", asks=True, known=False),
)

QUESTIONS: Cases = Dataset(
    name="questions",
    cases=[
        Case(
            name=f"{row.text}{' (in a project)' if row.stands_there else ''}",
            inputs=Said(row.text, stands_there=row.stands_there),
            metadata=Expected(asks=row.asks, known=row.known),
        )
        for row in _QUESTIONS
    ],
    evaluators=[QuestionIsNeeded()],
)
