"""Questions about Silas itself and its settings: answered with the page and the command."""

import re
from importlib.metadata import version
from typing import Final, NamedTuple

from silas.agents.models import AgentResponse
from silas.agents.runbook.door_words import DoorWords, words_here
from silas.agents.runbook.everyday.spelling import fold_umlauts
from silas.language import tr_later

_LANGUAGE: Final = DoorWords(
    tr_later(
        "I speak English and German: “Language of cards and results” in “Settings” under “More” in "
        "the cockpit, or `silas config set language de` (`en` for English), changes it from the "
        "next start on."
    ),
    tr_later(
        "I speak English and German: “Language of cards and results” in “Settings” under “More” "
        "changes it from the next start on."
    ),
)
_MODEL: Final = DoorWords(
    tr_later(
        "“Who answers” under “More” in the cockpit, or `silas setup`, connects a language model: a "
        "key of a provider, or a model on this machine. It is tried before it counts."
    ),
    tr_later(
        "“Who answers” under “More” connects a language model: a key of a provider, or a model on "
        "this machine. It is tried before it counts."
    ),
)
_NO_MODEL: Final = DoorWords(
    tr_later(
        "None: I am Silas without a language model, and follow prepared plans. “Who answers” under "
        "“More” in the cockpit, or `silas setup`, connects one."
    ),
    tr_later(
        "None: I am Silas without a language model, and follow prepared plans. “Who answers” under "
        "“More” connects one."
    ),
)
_NEWS: Final = DoorWords(
    tr_later(
        "“Activity” in the cockpit, or `silas audit show`, shows what happened; “Ahead” under "
        "“More”, or `silas ahead`, what is to come."
    ),
    tr_later("“Activity” shows what happened; “Ahead” under “More” what is to come."),
)
_BY_ITSELF: Final = DoorWords(
    tr_later(
        "“Ahead” under “More” in the cockpit, or `silas ahead`, shows what runs by itself and when."
    ),
    tr_later("“Ahead” under “More” shows what runs by itself and when."),
)
_QUIET: Final = DoorWords(
    tr_later(
        "“Settings” under “More” in the cockpit has the quiet hours, and whether I suggest "
        "something by myself; so has `silas config set suggestions.enabled false`."
    ),
    tr_later(
        "“Settings” under “More” has the quiet hours, and whether I suggest something by myself."
    ),
)
_LOOKS: Final = DoorWords(
    tr_later("“Settings” under “More” in the cockpit makes the page dark or light."),
    tr_later("“Settings” under “More” makes the page dark or light."),
)
_COST: Final = DoorWords(
    *2
    * (
        tr_later(
            "Without a language model I cost nothing. With one, the card of each plan names the "
            "most that its work may cost."
        ),
    )
)
_PRIVACY: Final = DoorWords(
    tr_later(
        "What I keep lies on this machine, and without a language model I send none of it "
        "anywhere; a plan that reaches the network says so on its card. “What protects you” under "
        "“More” in the cockpit, or `silas doctor`, tells more; `silas config show` names the "
        "folder."
    ),
    tr_later(
        "What I keep lies on this machine, and without a language model I send none of it "
        "anywhere; a plan that reaches the network says so on its card. “What protects you” under "
        "“More” tells more."
    ),
)
_UNDO: Final = DoorWords(
    tr_later(
        "“Undo” at its result in the cockpit, or `silas undo ID`, puts back what work changed; "
        "“Work” under “More”, or `silas status`, lists all of it."
    ),
    tr_later(
        "“Undo” at its result puts back what work changed; “Work” under “More” lists all of it."
    ),
)
_WHO: Final = DoorWords(
    *2
    * (
        tr_later(
            "I am Silas, a program on this machine that does work for you once you have said yes."
        ),
    )
)
_VERSION: Final = DoorWords(*2 * (tr_later("I am Silas {version}."),))
_PRAISED: Final = DoorWords(*2 * (tr_later("Thank you. What shall I do?"),))
_WELL: Final = DoorWords(*2 * (tr_later("All right. What shall I do?"),))
_SCOLDED: Final = DoorWords(
    *2
    * (
        tr_later(
            "I am sorry. Without a language model I understand prepared requests only: “help” "
            "shows them."
        ),
    )
)

_TONGUE: Final = r"(?:german|english|deutsch|englisch)"
_A_MODEL: Final = (
    r"(?:an? |another |the |my |ein |eine |einen |das |mein )?(?:(?:language|ai|own) )?"
    r"(?:models?|llm|ai|ollama|openrouter|openai|chatgpt|claude|api key|(?:sprach)?modell"
    r"|schluessel"
    r"|ki)"
)


class _Asked(NamedTuple):
    form: re.Pattern[str]
    said: DoorWords


_ASKED: Final = tuple(
    _Asked(re.compile(form), said)
    for form, said in (
        (
            rf"(?:please )?(?:speak|talk|answer|write|reply)(?: to me| with me)?(?: in)? {_TONGUE}"
            rf"|(?:switch|change)(?: (?:the|your) language)? (?:to|into) {_TONGUE}"
            r"|(?:change|set|switch) (?:the |your |my )?language"
            rf"|(?:do|can) you (?:also )?(?:speak |understand )?{_TONGUE}"
            r"|(?:which|what) languages (?:do|can) you (?:speak|understand)"
            rf"|(?:bitte )?(?:sprich|rede|antworte|schreib)(?: bitte)?(?: mit mir"
            rf"| mir)?(?: auf)? {_TONGUE}"
            rf"|(?:kannst|sprichst) du (?:auch )?{_TONGUE}(?: sprechen)?|auf {_TONGUE}(?: bitte)?"
            rf"|(?:aendere?|wechsle|stell)(?: die"
            rf"| deine)? sprache(?: um)?(?: auf {_TONGUE})?(?: um)?",
            _LANGUAGE,
        ),
        (
            r"(?:how (?:do|can) i|i want to|can i) (?:add|connect|use|set up|choose|change"
            r"|configure"
            rf"|install|enter|switch) {_A_MODEL}|(?:add|connect|set up|use|change) {_A_MODEL}"
            rf"|(?:wie (?:fuege|richte|verbinde|nutze|benutze|waehle|aendere) ich"
            rf"|wie kann ich) {_A_MODEL}"
            r"(?: hinzu| ein| aus| verbinden| hinzufuegen| einrichten| nutzen| benutzen)?"
            rf"|(?:verbinde|richte) {_A_MODEL}(?: ein)?",
            _MODEL,
        ),
        (
            r"(?:what|which) (?:language )?(?:model|llm|ai) (?:are you(?: using)?|do you use"
            r"|is (?:in use|this|it))|are you (?:chatgpt|gpt|claude|an ai|a language model)"
            r"|welches (?:sprach)?modell (?:benutzt|nutzt|verwendest|hast|bist) du"
            r"|bist du (?:chatgpt|eine ki|ein sprachmodell)",
            _NO_MODEL,
        ),
        (
            r"(?:what s|whats|what is) (?:new|up)(?: today)?|anything new|any news(?: for me)?"
            r"|was gibt (?:es |s )?neues|was gibt s neues|gibt es (?:etwas |was )?neues"
            r"|was ist neu",
            _NEWS,
        ),
        (
            r"what runs (?:by itself|automatically|on its own|alone)"
            r"|was laeuft (?:von selbst|von allein|von alleine|automatisch)",
            _BY_ITSELF,
        ),
        (
            r"be quiet(?: at night)?|(?:turn|switch) off (?:the |all |your )?(?:notifications"
            r"|suggestions)|(?:do not|don t) disturb(?: me)?(?: at night)?|quiet hours"
            r"|sei (?:nachts )?(?:still|leise|ruhig)|stoer(?:e)? mich (?:nachts )?nicht"
            r"|schalte? (?:die |alle )?(?:benachrichtigungen|vorschlaege) (?:aus|ab)",
            _QUIET,
        ),
        (
            r"(?:use |switch to |turn on |enable |change to )?(?:the )?(?:dark|light) (?:mode"
            r"|theme)"
            r"|change the (?:theme|colou?rs)|(?:mach es |benutze )?(?:dunkel|dunkler modus"
            r"|dark mode)",
            _LOOKS,
        ),
        (
            r"how much (?:have|did|do|does|will) (?:you|it|this"
            r"|that) (?:already )?cost(?: me)?(?: so far)?"
            r"|what (?:have|did|do) you cost(?: me)?|are you free(?: of charge)?|what is my balance"
            r"|wie viel (?:hast|kostest|kostet) (?:du|das|es)(?: bisher)?(?: gekostet)?"
            r"|was kostest du|zeig mir mein guthaben",
            _COST,
        ),
        (
            r"(?:is|are) my (?:data|files|memories|notes) (?:private|safe|secure)"
            r"|where (?:is|are) my (?:data|files|memories) (?:stored|kept|saved)"
            r"|where do you (?:store|keep|save) (?:my |your )?(?:data|files|memories|things"
            r"|everything)"
            r"|do you (?:send|share|upload) (?:my )?(?:data|files|anything)(?: anywhere)?"
            r"|sind meine (?:daten|dateien) (?:sicher|privat)"
            r"|wo (?:sind|liegen|werden) meine (?:daten|dateien)(?: gespeichert)?"
            r"|wo speicherst du (?:meine )?daten",
            _PRIVACY,
        ),
        (
            r"(?:how (?:do|can) i|can i) undo(?: (?:it|that|this|something|work|a change|changes))?"
            r"|wie (?:mache|kann) ich (?:etwas|das|es)(?: wieder)? rueckgaengig(?: machen)?"
            r"|kann ich (?:etwas|das|es)(?: wieder)? rueckgaengig machen",
            _UNDO,
        ),
        (
            r"(?:what|which) version(?: of silas)?(?: (?:are you|is this|is it|do i have"
            r"|am i using))?"
            r"|version|welche version(?: von silas)?(?: (?:bist du|ist das|habe ich))?",
            _VERSION,
        ),
        (
            r"who (?:made|built|created|wrote) you|are you (?:human|a human|real|alive|a robot"
            r"|a bot)"
            r"|wer hat dich (?:gemacht|gebaut|programmiert|geschrieben)"
            r"|bist du (?:ein mensch|echt|ein roboter|ein bot)",
            _WHO,
        ),
        (
            r"(?:you are|you re|youre|you r) (?:so |very |really )?(?:great|good|nice|awesome"
            r"|amazing"
            r"|the best|cool|smart|funny|helpful)|i (?:love|like) (?:you|it|this)|well done"
            r"|good (?:job|work|bot)|du bist (?:so |sehr )?(?:toll|super|lieb|gut|nett|klasse)"
            r"|ich (?:liebe|mag) dich|gut gemacht|sehr gut",
            _PRAISED,
        ),
        (
            r"(?:ha)+h?|lol|(?:ok |okay )?(?:cool|nice|great|perfect|super|toll|prima|fine)|got it"
            r"|i see|alles klar|verstanden|aha",
            _WELL,
        ),
        (
            r"(?:you are|you re|youre) (?:so |really )?(?:stupid|dumb|useless|bad|an idiot|no help)"
            r"|this (?:sucks|is useless)|(?:that|this|it) (?:does not|doesn t) work"
            r"|du bist (?:so )?(?:dumm|doof|bloed|nutzlos)|das (?:klappt|geht|funktioniert) nicht",
            _SCOLDED,
        ),
    )
)


def answer(text: str) -> AgentResponse | None:
    """What is said to a question about Silas, or to small talk; None for everything else."""
    if not text.strip():
        return None
    plain = " ".join(re.findall(r"\w+", fold_umlauts(text.lower())))
    said = next((one.said for one in _ASKED if one.form.fullmatch(plain)), None)
    if said is None:
        return None
    message = words_here(said, version=version("silas")) if said is _VERSION else words_here(said)
    return AgentResponse(message=message, understood=said is not _SCOLDED)
