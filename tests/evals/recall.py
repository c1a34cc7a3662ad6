"""What is found again of many things that an owner may have told, by words and by meaning.

Every case asks one question of a Silas that remembers all of `TOLD`; right is that the answer is
among the first five. `known` says whether words alone find it; the others need meaning.
"""

from typing import NamedTuple

from pydantic_evals import Case

from tests.evals.judging import Cases, Expected, IsRecalled
from tests.evals.turns import Said

TOLD = (
    "I am allergic to penicillin.",
    "My blood type is 0 negative.",
    "Doctor Amsel moved to Lindenstrasse 12.",
    "I run ten kilometres every Tuesday before work.",
    "My knee was operated on in 2019.",
    "Our flight to Lisbon leaves on 3 May at 7:40.",
    "The hotel in Lisbon is called Casa do Rio.",
    "I always take an aisle seat.",
    "My passport expires in August 2031.",
    "We rented the cabin in Norway from the Haugens.",
    "My sister Clara lives in Graz with her two boys.",
    "My father turns 70 on 14 September.",
    "Our wedding was on the beach at Hoernum.",
    "The cat is called Schroedinger and eats only the dry food.",
    "Aunt Berta does not speak to Uncle Karl.",
    "The staging server is called otter and runs Debian.",
    "Deployments happen on Thursdays after four.",
    "The customer Brandt pays within ten days.",
    "Marek is on parental leave until March.",
    "Our database backups go to the second data centre at night.",
    "I prefer tabs to spaces in every language but Python.",
    "The office coffee machine needs descaling every month.",
    "My salary is reviewed each January.",
    "The contract with the printing house ends in June.",
    "I keep the spare key under the blue flowerpot.",
    "The heating was serviced by Firma Kolb.",
    "Our landlord is Mrs Sedlmayr.",
    "The washing machine is still under guarantee until 2028.",
    "Bins are collected on Friday mornings.",
    "The wifi at the cabin is slow, so bring films.",
    "I drink my coffee black.",
    "I do not eat mushrooms.",
    "My favourite pizza is the one with anchovies at Da Enzo.",
    "We bake bread on Sundays with the starter from Clara.",
    "Last year I spent 1,200 euros on books.",
    "My bicycle is a green Kalkhoff with eight gears.",
    "The car has to go to inspection in November.",
    "I sing tenor in the choir at Saint Anne's.",
    "I am learning Portuguese with Joana on Wednesdays.",
    "The telescope is in the attic behind the skis.",
)


class _Row(NamedTuple):
    question: str
    answer: str
    known: bool = True


_QUESTIONS = (
    _Row("Am I allergic to penicillin or anything else?", "penicillin"),
    _Row("What is my blood type?", "0 negative"),
    _Row("Where is Doctor Amsel now?", "Lindenstrasse"),
    _Row("When does our flight to Lisbon leave?", "7:40"),
    _Row("What is the hotel in Lisbon called?", "Casa do Rio"),
    _Row("When does my passport expire?", "2031"),
    _Row("Who rented us the cabin in Norway?", "Haugens"),
    _Row("Where does Clara live?", "Graz"),
    _Row("When does my father turn 70?", "14 September"),
    _Row("What is the name of our cat?", "Schroedinger"),
    _Row("What does the staging server run?", "Debian"),
    _Row("When do deployments happen?", "Thursdays"),
    _Row("How fast does Brandt pay?", "ten days"),
    _Row("Until when is Marek on leave?", "March"),
    _Row("Tabs or spaces in Go?", "tabs"),
    _Row("When does the contract with the printing house end?", "June"),
    _Row("Where is the spare key?", "flowerpot"),
    _Row("Who serviced the heating?", "Kolb"),
    _Row("Who is our landlord?", "Sedlmayr"),
    _Row("How long is the guarantee of the washing machine?", "2028"),
    _Row("On which day are the bins collected?", "Friday"),
    _Row("How do I take my coffee?", "black"),
    _Row("How much did I spend on books?", "1,200"),
    _Row("What colour is my bicycle?", "green"),
    _Row("Who teaches me Portuguese?", "Joana"),
    _Row("Where did we put the telescope?", "attic"),
    _Row("Which medicine must I never be given?", "penicillin", known=False),
    _Row("What kind of exercise do I get during the week?", "ten kilometres", known=False),
    _Row("Where do I like to sit on a plane?", "aisle", known=False),
    _Row("Which food should a cook leave out for me?", "mushrooms", known=False),
    _Row("What is the name of my pet?", "Schroedinger", known=False),
    _Row("How are my relatives getting on with each other?", "Berta", known=False),
    _Row("When is rubbish taken away?", "Friday", known=False),
    _Row("Where did we get married?", "Hoernum", known=False),
    _Row("Which musical hobby do I have?", "tenor", known=False),
)

RECALL = Cases(
    name="recall",
    cases=[
        Case(
            name=row.question,
            inputs=Said(row.question, told=TOLD),
            metadata=Expected(words=(row.answer,), known=row.known),
        )
        for row in _QUESTIONS
    ],
    evaluators=[IsRecalled()],
)
