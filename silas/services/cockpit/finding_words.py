"""What `silas doctor` finds, in the owner's language for the page “What protects you”."""

from typing import Final

from silas.home.findings import DoctorFinding
from silas.language import refusal_words, retold, tr_later

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
)
"""The parts by their names, which programs go by; the first that fits."""

_WORDS: Final = (
    tr_later("valid"),
    tr_later("there is no owner key yet; run `silas init`"),
    tr_later("fingerprint {print}, {days} days old (in force since {since})"),
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
    tr_later("not stopped; `silas stop --now`, or a file {path}, stops everything"),
    tr_later("Silas is stopped since {wall} ({zone}); `silas resume` starts it again."),
    tr_later("Silas is stopped; `silas resume` starts it again."),
    tr_later("written for {machine}"),
    tr_later("ABI {version}, protects files, TCP, devices, abstract sockets and signals"),
    tr_later("ABI {version}, protects files, TCP, devices"),
    tr_later("ABI {version}, protects files, TCP"),
    tr_later("ABI {version}, protects files"),
    tr_later("processes counted by the kernel: True"),
    tr_later("processes counted by the kernel: False"),
    tr_later("tested in a run: {program}"),
    tr_later("could not be tested: {why}"),
    tr_later("not looked for (`sandbox.tools.discover` is false)"),
    tr_later("runs there: {there}; not there: nothing usual"),
    tr_later("runs there: {there}; not there: {missing}"),
    tr_later("{path} is readable and up to date"),
    tr_later("{path} does not exist; run `silas init`"),
    tr_later("none was left half-changed by a crash"),
    tr_later("not looked at yet"),
    tr_later("it agrees with what approvals have come to"),
    tr_later(
        "all of its {count} entries are those that were signed; the newest signed head is kept "
        "beside the key"
    ),
    tr_later(
        "none; whoever can write the record, the key's directory and the key store could cut off "
        "what was signed last. Name one in `audit.witness`, or keep the line that `silas audit "
        "witness` prints"
    ),
    tr_later("{witness}: was told entry {seq} at {at}"),
    tr_later("{witness}: has no head yet; run `silas audit witness`"),
    tr_later("runbook built in: follows runbooks, is no language model"),
    tr_later("by words; set `memory.embedder` to find by meaning, too"),
    tr_later("its provider is here"),
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
        "of {total} tokens, what every prompt holds takes {proxy} (proxy) and {planner} (planner)"
    ),
)
"""What is found most; anything else is told in English."""


def finding_words(found: DoctorFinding) -> DoctorFinding:
    """A finding as its owner reads it; the terminal's keeps the English that programs read."""
    told = retold(found.words, _WORDS)
    words = refusal_words(told) if found.state == "failed" and told == found.words else told
    return found._replace(part=retold(found.part, _PARTS), words=words)
