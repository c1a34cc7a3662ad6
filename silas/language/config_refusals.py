"""How a configuration is wrong, as `refusal_words` tells it (spec 11).

Its keys and values stay as they are; `file_faults` has what is wrong with its YAML.
"""

from typing import Final

from silas.language.catalogue import tr_later

CONFIG_PLACES: Final = (
    tr_later("{name}, line {line}, column {column}: {wrong}."),
    tr_later("{name}, line {line}: the environment variable {variable} is not set."),
)
"""Where a file is wrong, and how; the more there is to find, the earlier."""

CONFIG_REFUSALS: Final = (
    tr_later("There is no key {key} under {parents}; the nearest is {near} ({origin})."),
    tr_later("There is no key {key}; the nearest is {near} ({origin})."),
    tr_later("{key} needs the environment variable {variable}, which is not set ({origin})."),
    tr_later(
        "sandbox.verify_dir and sandbox.customer_context_dir are both {path}; give them "
        "different directories."
    ),
    tr_later("sandbox.customer_context_dir is {path}, which is not inside data_dir {folder}."),
    tr_later("Everyone may write to sandbox.customer_context_dir; run `chmod 700 {path}`."),
    tr_later(
        "A witness of the audit log must not be inside data_dir {folder}, where it would "
        "fall with the log; give audit.witness another place."
    ),
    tr_later(
        "autonomy.max_batch_review_size is {size}, less than batch_review.default_size, "
        "which is {least}."
    ),
    tr_later("mcp names a server that is not in mcpServers; its name must be the same in both."),
    tr_later(
        "mcp gives network, read or write to a server with a url; they are for a command,"
        " which runs in the sandbox."
    ),
    tr_later("suggestions.enabled needs scheduler.enabled; turn both on or suggestions off."),
    tr_later("{key}: {misfit} ({origin})."),
    tr_later("{key}: {misfit}."),
)
"""Those that no `raise` says as they stand; the last of them fit nearly everything."""

CONFIG_FAULTS: Final = (
    tr_later("does not have the required form"),
    tr_later("is not known here"),
    tr_later("it is needed and is missing"),
    tr_later("must be JSON"),
    tr_later("must be a date and time with its zone"),
    tr_later("must be a list"),
    tr_later("must be a number"),
    tr_later("must be a path"),
    tr_later("must be a whole number"),
    tr_later("must be an address such as https://example.org"),
    tr_later("must be text"),
    tr_later("must be true or false"),
    tr_later("must have keys of its own"),
    tr_later("must not be empty"),
    tr_later("must be less than {lt}"),
    tr_later("must be more than {gt}"),
    tr_later("must be one of {expected_tags}"),
    tr_later("must be {ge} or more"),
    tr_later("must be {le} or less"),
    tr_later("must fit the pattern {pattern}"),
    tr_later("must have {min_length} characters or more"),
    tr_later("must have {max_length} characters or fewer"),
    tr_later("must have {min_length} entries or more"),
    tr_later("must have {max_length} entries or fewer"),
    tr_later("must be {expected}"),
)
"""What is wrong with one value, as `silas.errors.describe_misfit` has it."""

CONFIG_ORIGINS: Final = (
    tr_later("{where}, line {line}"),
    tr_later("environment variable {variable}"),
)
"""Where a value was given."""
