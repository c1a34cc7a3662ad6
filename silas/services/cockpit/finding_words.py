"""What `silas doctor` finds, in the owner's language: in a terminal and on “What protects you”."""

from collections.abc import Callable, Mapping
from typing import Final

from silas.home.findings import DoctorFinding
from silas.language import (
    ENGLISH,
    group_digits,
    refusal_words,
    retranslate,
    spoken_language,
    tr,
    tr_later,
)
from silas.language.model_faults import MODEL_FAULTS, MODEL_NAMES

_PARTS: Final = (
    tr_later("configuration"),
    tr_later("key"),
    tr_later("public key"),
    tr_later("key age"),
    tr_later("signer"),
    tr_later("emergency stop"),
    tr_later("sandbox bubblewrap"),
    tr_later("sandbox system-call filter"),
    tr_later("sandbox supervision"),
    tr_later("sandbox isolation"),
    tr_later("sandbox tools"),
    tr_later("sandbox {name}"),
    tr_later("commands"),
    tr_later("database"),
    tr_later("database row"),
    tr_later("workspaces"),
    tr_later("workspace"),
    tr_later("clock"),
    tr_later("record"),
    tr_later("audit witness"),
    tr_later("audit witness {number}"),
    tr_later("model {role}"),
    tr_later("MCP servers"),
    tr_later("MCP server {name}"),
    tr_later("memory search"),
    tr_later("gate {name}"),
    tr_later("gates"),
    tr_later("toolset {name}"),
    tr_later("toolsets"),
    tr_later("directory {setting}"),
    tr_later("cockpit address"),
    tr_later("phone address"),
    tr_later("phone"),
    tr_later("context"),
    tr_later("runbook"),
    tr_later("runbooks"),
    tr_later("worker {name}"),
    tr_later("channel {name}"),
    tr_later("answer {role}"),
)
"""The parts by their names, which programs go by; the first that fits."""

_USES: Final[Mapping[str, str]] = {
    "model proxy": tr_later("model for messages"),
    "model planner": tr_later("model for plans"),
    "model executor": tr_later("model for work"),
    "model scorer": tr_later("model for trimming"),
    "gate input_guard": tr_later("check of messages"),
    "gate secret_scrub": tr_later("check of answers"),
}
"""Parts that the shipped configuration names, by what they are for."""

FINDINGS: Final = (
    tr_later("the secret {name} is not stored; store it first: `silas secrets add {again}`"),
    tr_later("valid"),
    tr_later("there is no owner key yet; run `silas init`"),
    tr_later("fingerprint {print}, {days} days old (in force since {since})"),
    tr_later(
        "fingerprint {print}, {days} days old (in force since {since}); it followed {count} former "
        "key"
    ),
    tr_later(
        "fingerprint {print}, {days} days old (in force since {since}); it followed {count} former "
        "keys"
    ),
    tr_later(
        "apart, as your own user: the process that runs models and tools has no key, and code in "
        "it gets no signature without your yes in the signer's terminal. It does not protect "
        "against a program that runs as you and writes on that terminal, reads what you type there "
        "or changes what you start; a user of its own for the signer does (`keys.signer_user`). "
        "Nor against what such a program does as you without asking Silas. Requests are not signed "
        "as yours. A yes is given in the signer's terminal alone. The signature of a paired device "
        "is none: the cockpit's page comes from the process that asks, which could show one thing "
        "and have another signed."
    ),
    tr_later(
        "apart, as user {user}: key and memory of the signer are out of reach of every program "
        "that runs as you, and none gets a signature without a yes in the signer's terminal. Let "
        "that be a login of {login} and no window of yours, into which your programs could type. "
        "It does not protect against root, nor against what such a program does as you without "
        "asking Silas. Requests are not signed as yours. A yes is given in the signer's terminal "
        "alone. The signature of a paired device is none: the cockpit's page comes from the "
        "process that asks, which could show one thing and have another signed."
    ),
    tr_later("the signer has another key than this Silas was set up with"),
    tr_later("the signer is another user's, but this user still has a private key"),
    tr_later(
        "apart, but Silas runs as root, from which no signer is safe; run it as an ordinary user"
    ),
    tr_later(
        "inside: the key is unlocked in the process that runs models and tools. It is out of reach "
        "of the sandbox; code that takes over that process can sign as you. `keys.signer: apart` "
        "and `silas signer` keep it out of there."
    ),
    tr_later(
        "The private key is in the operating system's key store, behind your login. It is "
        "protected when the disk or a backup is read by somebody else. "
        "It does not protect against a program that runs as you while you are logged in."
    ),
    tr_later(
        "The private key is in an encrypted file (argon2id, mode 0600), unlocked by your "
        "passphrase. It is protected, as well as the passphrase is, when the disk or a backup is "
        "read by somebody else. It does not protect against a program that runs as you while Silas "
        "runs, nor against root."
    ),
    tr_later(
        "The private key is in an encrypted file (argon2id, mode 0600), unlocked by the key file "
        "{path}. It is protected only where that file is not: keep it on another device or out of "
        "backups. It does not protect against a program that runs as you while Silas runs, nor "
        "against root."
    ),
    tr_later("kept by the signer at {socket}"),
    tr_later("not stopped; `silas stop --now`, or a file {path}, stops everything"),
    tr_later("Silas is stopped since {wall} ({zone}); `silas resume` starts it again."),
    tr_later("Silas is stopped; `silas resume` starts it again."),
    tr_later("written for {machine}"),
    tr_later("ABI {version}, protects files, TCP, devices, abstract sockets and signals"),
    tr_later("ABI {version}, protects files, TCP, devices"),
    tr_later("ABI {version}, protects files, TCP"),
    tr_later("ABI {version}, protects files"),
    tr_later("processes counted by the kernel: yes"),
    tr_later("processes counted by the kernel: no"),
    tr_later("tested in a run: {program}"),
    tr_later("could not be tested: {why}"),
    tr_later("not looked for (`sandbox.tools.discover` is false)"),
    tr_later("runs there: {there}; not there: nothing usual"),
    tr_later("runs there: {there}; not there: {missing}"),
    tr_later("{path} is readable and up to date"),
    tr_later("{path} does not exist; run `silas init`"),
    tr_later("none was left half-changed by a crash"),
    tr_later(
        "{key} in `{place}` of the database was changed or damaged and is set aside; nothing waits "
        "for it. To have it back, restore the database from a backup."
    ),
    tr_later("not looked at yet"),
    tr_later("it agrees with what approvals have come to"),
    tr_later(
        "it was changed outside Silas: {why} effects are refused; see `silas audit verify`, and "
        "`silas audit accept` after a backup"
    ),
    tr_later(
        "its only entry is the one that was signed; the newest signed head is kept beside the key"
    ),
    tr_later(
        "all of its {count} entries are those that were signed; the newest signed head is kept "
        "beside the key"
    ),
    tr_later(
        "none; whoever can write the record, the key's directory and the key store could cut off "
        "what was signed last. Name one in `audit.witness`, or keep the line that `silas audit "
        "witness` gives"
    ),
    tr_later("{witness}: was told entry {seq} at {at}"),
    tr_later("{witness}: has no head yet; run `silas audit witness`"),
    tr_later("runbook built in: follows runbooks, is no language model"),
    tr_later("{model}: {host} takes no connection within {seconds} seconds"),
    tr_later("{model}: there is no host named {host}; correct {setting}"),
    tr_later("{model}: nothing answers at {host} ({why}); start the server, or correct {setting}"),
    tr_later("by words; set `memory.embedder` to find by meaning, too"),
    tr_later("by words and by meaning: {model}, on this machine"),
    tr_later("by words and by meaning: {model}, {where}"),
    tr_later("{path} is usable"),
    tr_later("each file of your own can be used"),
    tr_later("{model} is not among the known models of {provider}; `silas doctor --deep` asks it"),
    tr_later(
        "{model} is not among the known models of {provider} (the nearest is {near}); `silas "
        "doctor --deep` asks it"
    ),
    *MODEL_FAULTS,
    tr_later("{model} answered in {seconds} s"),
    tr_later("its provider is here"),
    tr_later(
        "every turn needs {needed} evaluations and limits.max_gate_evals_per_turn is {limit}, so "
        "answers are withheld; raise it"
    ),
    tr_later("refuses every message that was tried: {why}; correct it in gates.system"),
    tr_later("withholds every answer that was tried: {why}; correct it in gates.system"),
    tr_later("refuses every tool call that was tried: {why}; correct it in gates.system"),
    tr_later("stops work after every step that was tried: {why}; correct it in gates.system"),
    tr_later("refuses every message: {why}"),
    tr_later("withholds every answer: {why}"),
    tr_later("refuses every tool call: {why}"),
    tr_later("stops work after every step: {why}"),
    tr_later(
        "this version has no provider {name}; give the gate `provider: predicate`, which is built "
        "in, or take it out of gates.system"
    ),
    tr_later("{use}: hears you and strangers; a yes needs a device's signature"),
    tr_later("{use}: hears you; a yes needs a device's signature"),
    tr_later("{use}: hears strangers; a yes needs a device's signature"),
    tr_later(
        "{what}; choose one of {addresses} with `--phone-address` or channels.web.phone.address."
    ),
    tr_later(
        "{what}; connect it to your home network first with `--phone-address` or "
        "channels.web.phone.address."
    ),
    tr_later("Tailscale is not installed; install it, or change `channels.web.phone.way`"),
    tr_later("trusted; Silas starts it when it starts itself"),
    tr_later("out of use: {why}"),
    tr_later("there is no host named {host}; correct {setting}"),
    tr_later("{host} takes no connection within {seconds} seconds"),
    tr_later("nothing answers at {host} ({why}); start the server, or correct {setting}"),
    tr_later("{path} does not exist; correct `command` in mcpServers.{name}"),
    tr_later("offers {count} tools"),
    tr_later("offers no tool"),
    tr_later("offers {tools}"),
    tr_later("{path} is not there; make it, or change `{setting}`"),
    tr_later("{path} is no directory; make it, or change `{setting}`"),
    tr_later("{path} cannot be read; make it, or change `{setting}`"),
    tr_later("this machine has no address {host}; change `channels.web.host`"),
    tr_later("not open; `silas start --phone` opens it"),
    tr_later("open at {origin}"),
    tr_later("open at {origin}; its certificate counts until {until}"),
    tr_later("not open; `silas start --phone` opens it; its certificate counts until {until}"),
    tr_later(
        "{way}; its certificate expired on {until}; the next `silas start --phone` makes a new one"
    ),
    tr_later(
        "{way}; its certificate ends on {until}, and then phones refuse it until the next start"
    ),
    tr_later(
        "of {total} tokens, what every prompt holds takes {proxy} (proxy) and {planner} (planner): "
        "too little is left; raise context.total_tokens"
    ),
    tr_later(
        "of {total} tokens, what every prompt holds takes {proxy} (proxy) and {planner} (planner)"
    ),
    tr_later("what prompts hold cannot be counted: {why}"),
)
"""What is found most; anything else is told as refusals are."""


def _number(written: str) -> str:
    digits = written.replace(",", "")
    return group_digits(int(digits)) if digits.isdecimal() else written


def _there(commands: str) -> str:
    return commands.replace("(also ", tr("(also "))


def told_of_finding(words: str) -> str:
    """What is found, without its part, in the owner's language."""
    told = retranslate(words, FINDINGS, _VALUES)
    return refusal_words(words) if told == words else told


def _model(name: str) -> str:
    return retranslate(told_of_finding(name), MODEL_NAMES)


_VALUES: Final[Mapping[str, Callable[[str], str]]] = {
    **dict.fromkeys(("total", "proxy", "planner", "count"), _number),
    **dict.fromkeys(("why", "way", "what"), told_of_finding),
    "model": _model,
    "there": _there,
    "missing": tr,
}
"""Values of those that are words or numbers of Silas's own."""


def finding_words(found: DoctorFinding) -> DoctorFinding:
    """A finding as its owner reads it; `--json` keeps the English that programs read."""
    if spoken_language() == ENGLISH:
        return found
    use = _USES.get(found.part)
    part = tr(use) if use else retranslate(found.part, _PARTS)
    return found._replace(part=part, words=told_of_finding(found.words))


def on_the_page(found: DoctorFinding) -> DoctorFinding:
    """The same on the page, where no part is called as the configuration calls it."""
    use = _USES.get(found.part)
    told = finding_words(found)
    return told._replace(part=tr(use)) if use else told
