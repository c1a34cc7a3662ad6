"""What is found by words and what is found by meaning, as one list (spec 6.3)."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silas.memory.fuse import Scores, fuse_rankings, in_talk
from silas.memory.neighbours import Neighbours, NeighbourTurn

DEPTH = 40
FOUND = st.lists(
    st.tuples(st.sampled_from("abcdefghij"), st.floats(0, 10)),
    max_size=10,
    unique_by=lambda each: each[0],
).map(lambda found: sorted(found, key=lambda each: -each[1]))


def noise(seed: int) -> list[tuple[str, float]]:
    """Forty memories that fit a little, none of them more than others."""
    chance = random.Random(seed)
    found = [(f"{seed}-{n}", chance.uniform(0.2, 0.4)) for n in range(DEPTH)]
    return sorted(found, key=lambda each: -each[1])


def first(scores: Scores, count: int) -> set[str]:
    return {name for name, _ in scores[:count]}


RIGHT = [("x", 0.95), ("y", 0.9), ("z", 0.85)]


@pytest.mark.parametrize(
    ("by_words", "covered", "by_meaning"),
    [
        (RIGHT + noise(1)[3:], 0.9, noise(2)),
        (RIGHT, 0.9, noise(2)),
        (noise(1), 0.1, RIGHT + noise(2)[3:]),
        (noise(1)[:5], 0.1, RIGHT + noise(2)[3:]),
        ([], 0.0, RIGHT + noise(2)[3:]),
    ],
    ids=["words", "few words", "meaning", "meaning beside few words", "meaning alone"],
)
def test_a_channel_that_knows_is_not_drowned_by_one_that_does_not(
    by_words: Scores, covered: float, by_meaning: Scores
):
    assert first(fuse_rankings(by_words, covered, by_meaning, {}, DEPTH), 3) == {"x", "y", "z"}


def test_what_both_find_comes_before_what_one_finds():
    by_words = [("both", 5.0), ("words", 5.0), *noise(1)]
    by_meaning = [("both", 0.8), ("meaning", 0.8), *noise(2)]
    found = [name for name, _ in fuse_rankings(by_words, 1.0, by_meaning, {}, DEPTH)]
    assert found[0] == "both"
    assert {"words", "meaning"} == set(found[1:3])


def test_of_what_fits_alike_by_words_that_comes_first_which_is_nearer_in_meaning():
    by_words = [("far", 5.0), ("near", 4.9), *noise(1)]
    nearness = {"far": 0.1, "near": 0.6}
    found = [name for name, _ in fuse_rankings(by_words, 1.0, noise(2), nearness, DEPTH)]
    assert found[:2] == ["near", "far"]


def test_an_answer_is_as_near_as_the_question_before_it_and_others_are_not():
    def turn(name: str, text: str, session: str = "s") -> NeighbourTurn:
        return NeighbourTurn(name, session, None, None, text, kept=False)

    talk = Neighbours(
        {
            1: turn("ask", "Did you see Lisbon?"),
            2: turn("answer", "Yes."),
            3: turn("later", "Nice."),
            4: turn("elsewhere", "Yes.", "t"),
        }
    )
    near = in_talk(talk, {"ask": 0.9, "answer": 0.1, "later": 0.1, "elsewhere": 0.1})
    assert sorted(near, key=lambda name: -near[name])[:2] == ["ask", "answer"]
    assert near["answer"] > near["elsewhere"] + 0.2
    assert in_talk(talk, {}) == {}
    assert set(in_talk(talk, {"later": 0.5})) == {"later"}


@given(
    FOUND, st.floats(0, 1), FOUND, st.dictionaries(st.sampled_from("abcdefghijkl"), st.floats(0, 2))
)
def test_everything_found_comes_once_and_in_order(
    by_words: Scores, covered: float, by_meaning: Scores, near: dict[str, float]
):
    found = fuse_rankings(by_words, covered, by_meaning, near, DEPTH)
    assert [name for name, _ in found] == list(dict(found))
    assert set(dict(found)) == set(dict(by_words)) | set(dict(by_meaning)) | set(near)
    assert [score for _, score in found] == sorted((s for _, s in found), reverse=True)
    assert all(score >= 0 for _, score in found)
