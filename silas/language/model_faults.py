"""Why a model that was tried does not answer, as its probe tells it (spec 0.5)."""

from typing import Final

from silas.language.catalogue import tr_later

MODEL_FAULTS: Final = (
    tr_later("{model}: it refuses the request (400); check the model's name and `base_url`"),
    tr_later("{model}: it refuses the key (401); check the key that its variable holds"),
    tr_later("{model}: its account has no credit left (402)"),
    tr_later("{model}: the key may not use this model (403)"),
    tr_later(
        "{model}: it knows no such address or model (404); check the name, and that `base_url` "
        "ends in /v1"
    ),
    tr_later("{model}: it did not answer in time (408)"),
    tr_later("{model}: it limits requests or its quota is used up (429); wait and try again"),
    tr_later("{model}: it cannot be reached; start the server, or check `base_url`"),
    tr_later("{model}: it did not answer in time"),
    tr_later("{model}: it did not answer within {seconds} seconds"),
    tr_later("{model}: it fails with HTTP status {status}"),
    tr_later("{model}: it answers with HTTP status {status}"),
    tr_later("{model}: its answer is none that a model gives ({kind}); check `base_url`"),
)
"""The first that fits."""

MODEL_NAMES: Final = (tr_later("{name} at {address}"),)
"""What `{model}` may be."""
