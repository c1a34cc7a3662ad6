"""What owners say of themselves without "remember", and ask back: their name, where they live."""

import re
from typing import Final

_POLITE: Final = (
    r"\s*(?:(?:hi|hello|hey|hallo|ok|okay|silas|and|und|by the way|übrigens)[,!.]?\s+)*"
)
_OF_ONES_OWN: Final = (
    r"name|birthday|address|(?:phone|mobile) number|shoe size|favou?rite(?: \w+){1,2}"
)
_PEOPLE: Final = (
    r"doctor|dentist|wife|husband|partner|son|daughter|mother|father|mum|mom|dad|brother|sister|"
    r"cat|dog|boss"
)
_OF_ONES_OWN_GERMAN: Final = (
    r"name|geburtstag|adresse|telefonnummer|schuhgröße|schuhgroesse|lieblings\w+"
)
_PEOPLE_GERMAN: Final = (
    r"arzt|ärztin|zahnarzt|zahnärztin|frau|mann|partner(?:in)?|sohn|tochter|mutter|vater|mama|papa|"
    r"bruder|schwester|katze|hund|chef(?:in)?"
)
_TIMES: Final = (
    "mon|tues|wednes|thurs|fri|satur|sun|to|morrow|tomorrow|back|later|again|when|if|at|on|in|a|an"
)
_NAME: Final = (
    rf"(?-i:(?=[A-ZÄÖÜ]))(?!(?:{_TIMES})(?:day)?\b)[^\W\d_][\w'’-]*(?: (?-i:[A-ZÄÖÜ])[\w'’-]+)?"
)
"""A name in capitals: "call me tomorrow" and "call me a taxi" are none."""
_STATES: Final = re.compile(
    rf"{_POLITE}(?P<what>"
    rf"my (?:{_OF_ONES_OWN})(?:['’]s| is) (?!not\b|in the (?:file|folder)).+"
    rf"|my (?:{_PEOPLE})(?:['’]s (?:name|birthday) is| is (?:called|named)) (?!not\b).+"
    r"|(?:i['’]m|i am) (?:called|named|allergic to|from|born (?:on|in)) .+"
    r"|(?:i['’]m|i am) (?:a )?(?:vegetarian|vegan)"
    r"|i (?:live|was born) (?:in|at|on) .+|i work (?:as|for) .+"
    rf"|meine? (?:{_OF_ONES_OWN_GERMAN}) (?:ist|sind) (?!nicht\b|in der datei).+"
    rf"|meine? (?:{_PEOPLE_GERMAN}) (?:heißt|heisst) (?!nicht\b).+"
    r"|ich (?:heiße|heisse) (?!nicht\b).+|ich (?:wohne|lebe) in .+|ich arbeite (?:bei|als) .+"
    r"|ich bin (?:allergisch gegen|aus) .+|ich bin (?:vegetarier(?:in)?|veganer(?:in)?|vegan)"
    rf"|(?:please |just |you (?:can|may|should) )?call me {_NAME}"
    rf"|(?:bitte )?(?:nenn|nenne) mich {_NAME}|du (?:kannst|darfst|sollst) mich {_NAME} nennen"
    r")[\s.!]*",
    re.IGNORECASE,
)
"""What stays true of somebody; what is the case today ("my son is ill") is none of it."""
_MOST: Final = 200  # characters

_ASKS: Final = (
    (
        r"who am i|what(?:['’]?s| is) my name(?: again)?|what am i called|how do you call me"
        r"|do you (?:still )?know (?:my name|who i am)|wie (?:heiße|heisse) ich(?: noch mal)?"
        r"|(?:wie|was) ist mein name|wer bin ich|(?:kennst|weißt|weisst) du (?:noch )?"
        r"(?:meinen namen|wie ich (?:heiße|heisse)|wer ich bin)",
        "name named called call heiße heisse nenne nenn",
    ),
    (
        r"where do i live|where am i from|wo (?:wohne|lebe) ich|woher (?:komme|bin) ich",
        "live from address wohne lebe adresse",
    ),
    (
        r"(?:what|which things) am i allergic to|wogegen bin ich allergisch"
        r"|do i have (?:any )?allergies",
        "allergic allergisch",
    ),
    (r"where do i work|wo arbeite ich|what is my job", "work job arbeite beruf"),
)
_QUESTIONS: Final = tuple(
    (re.compile(rf"{_POLITE}(?:{form})[\s?!.]*", re.IGNORECASE), words) for form, words in _ASKS
)


def stated_fact(text: str) -> str:
    """What a message says of who wrote it, in these words; nothing for every other message."""
    if len(text) > _MOST or "\n" in text.strip() or "?" in text:
        return ""
    found = _STATES.fullmatch(text)
    return "" if found is None else found["what"].strip().rstrip(".!")


def words_asked_for(text: str) -> str:
    """The words that such a fact may have, where a message asks for one; else nothing."""
    return next((words for form, words in _QUESTIONS if form.fullmatch(text)), "")
