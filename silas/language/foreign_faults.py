"""Errors of other libraries, and why a bundle is refused, as `refusal_words` tells them."""

from typing import Final

from silas.language.catalogue import tr_later

_WORDS: Final = (
    tr_later("The model provider refused the API key; check the key in the environment."),
    tr_later("The provider does not know this model; check the name under `models:`."),
    tr_later("The model provider is limiting requests; wait and try again."),
    tr_later(
        "The account at the model provider has no credit or quota left; add some there, or "
        "choose another model under `models:`."
    ),
    tr_later(
        "The model's server is overloaded or not ready; wait and try again, or name a `fallback`."
    ),
    tr_later(
        "The request is longer than the model's context; start its server with a larger one, "
        "or choose another model under `models:`."
    ),
    tr_later(
        "The model's server refuses the request; check `output` and the other settings of "
        "the role under `models:`."
    ),
    tr_later("The model did not answer in time; try again."),
    tr_later(
        "The model provider cannot be reached, or broke off; check the network and `base_url`."
    ),
    tr_later(
        "The model provider answered with an error; try again, or choose another model under "
        "`models:`."
    ),
    tr_later("The budget for model use is spent."),
    tr_later("The model's answer does not have the required form."),
    tr_later("The model run failed."),
    tr_later("The model is not usable as configured; see `models:`."),
    tr_later("The model provider answered with an error."),
    tr_later("The request timed out; try again."),
    tr_later("The server cannot be reached; check the network."),
    tr_later("The database is locked, full or unreadable; free it and try again."),
    tr_later("The database refused a statement."),
    tr_later("The database is damaged; restore it from a backup."),
    tr_later("A cryptographic check failed."),
    tr_later("The operating system's key store is not usable; configure the key file instead."),
    tr_later("The YAML cannot be read."),
    tr_later("The data does not have the required form."),
    tr_later("The connection was lost."),
    tr_later("The input ended."),
    tr_later("There was no answer in time."),
    tr_later("A file or directory cannot be used."),
)
"""Without the other's own words."""

FOREIGN_FAULTS: Final = (
    tr_later('{foreign} It says: "{saying}". ({detail})'),
    tr_later("{foreign} ({detail})"),
)
"""With them; the last that is tried, as it fits much."""

BUNDLE_FAULTS: Final = (
    tr_later("its first line is no header of a bundle of this version (jsonl-v1)"),
    tr_later("it has {count} memories, and at most {memories} are taken at once"),
    tr_later("line {number} is a memory of another scope"),
    tr_later("line {number} has the id of a memory before it"),
    tr_later("it was changed: its memories are not those that its header counts on"),
    tr_later("something follows after its end"),
    tr_later("line {number} is longer than {longest} bytes"),
    tr_later("it is larger than {bytes} bytes"),
    tr_later("it was cut off in line {number}"),
    tr_later("line {number} is no memory: {wrong}"),
    tr_later("its last line is no signature"),
    tr_later("there is no mode {mode}; it is merge or replace"),
    tr_later("it has memories of {theirs}, not of {yours}"),
    tr_later("its signature is not that of the key it names, so it was changed"),
    tr_later("the memory {id} holds a NUL"),
    tr_later("it would change the memory {id}, which is trusted more than the bundle"),
    tr_later("its standing rules and yours have no room in every prompt together"),
)
"""Behind `The bundle is refused`."""
