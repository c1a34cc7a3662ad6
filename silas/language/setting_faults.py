"""What does not fit in a setting or in a worker's file, as `refusal_words` tells it (spec 11).

Names of settings and their values stay as they are.
"""

from typing import Final

from silas.language.catalogue import tr_later

SETTING_FAULTS: Final = (
    tr_later("fallback must not have a fallback of its own"),
    tr_later("output: tool needs tools; with tools: none use native or prompted"),
    tr_later("{name} takes neither base_url nor api_key_env"),
    tr_later("base_url must start with http:// or https://"),
    tr_later("a witness is one of `file`, `directory` and `command`"),
    tr_later("a witness's command begins with the absolute path of a program"),
    tr_later("widen_correction_rate_max must be less than tighten_correction_rate_min"),
    tr_later("host {host} can be reached from other machines: set auth_token, or use 127.0.0.1"),
    tr_later("Telegram is not part of this version; set enabled to false"),
    tr_later(
        "nobody could talk there: set owner to your own connection on it, or strangers to true"
    ),
    tr_later("{name} is a name of Silas's own; call the channel something else"),
    tr_later("{address} is no host such as silas.example or http://box.lan:8420"),
    tr_later("medium_min is greater than high_min"),
    tr_later("a share is between 0.0 and 1.0"),
    tr_later("the shares add up to {total}; they may add up to {headroom}"),
    tr_later("default_profile is {default_profile}, which is not among the profiles {profiles}"),
    tr_later("not a regular expression: {words}"),
    tr_later("two gates are named {name}"),
    tr_later("embedder: endpoint needs embedding_base_url"),
    tr_later("embedding_base_url must start with http:// or https://"),
    tr_later("is one line of words without digits; write numbers as words"),
    tr_later("directive_tokens_min is greater than directive_tokens_max"),
    tr_later("context_words names {names}, not in contexts"),
    tr_later("constitution has more than {most} letters; say it in fewer words"),
    tr_later("must be absolute paths, or begin with `~`; {bad} is neither"),
    tr_later("{expression} is not a cron expression: {wrong}"),
    tr_later(
        "{name} is not a time zone; use a name such as Europe/Vienna, or {local} for this "
        "machine's own"
    ),
    tr_later("{name} is not a time zone; use a name such as Europe/Berlin"),
    tr_later("description_min_chars is greater than description_max_chars"),
    tr_later("allow_external needs require_transform_report: true"),
    tr_later("default_mode_by_register lacks {missing}"),
    tr_later(
        "a server's name is 1 to 31 letters, digits, `-` and `_`, with no `__` and no `_` at "
        "the end"
    ),
    tr_later("`url` must be https://host/path, without a user name"),
    tr_later("a reference to a secret needs its name, as `silas secrets list` has it"),
    tr_later("secrets are named in `env` and `headers` alone"),
    tr_later("`url` must be https; http is for this machine alone"),
    tr_later("the port of `url` must be a number from 1 to 65535"),
    tr_later("give either `command`, or `url`"),
    tr_later("`headers` and `type: http` need a `url`"),
    tr_later("`args`, `env`, `cwd` and `type: stdio` need a `command`"),
    tr_later(
        "{entry} is neither a class path such as mycompany.tools.Database, a package with a "
        "dot at its end such as `mycompany.`, nor the name of an entry point"
    ),
    tr_later("_egress names {tool}, which is not among _reads"),
    tr_later("_offer shows {tool} to {role}, and it is not among _reads"),
    tr_later('must be a time of day such as "22:00"'),
)
"""What a section of the configuration says of its own values."""

WORKER_FAULTS: Final = (
    tr_later("must be lower-case letters, digits, - and _, and begin with a letter"),
    tr_later("must be one line"),
    tr_later("a worker is named twice under delegates"),
    tr_later("it is not UTF-8 text; save it as UTF-8"),
    tr_later("it must begin with a line that is only ---, above its settings"),
    tr_later("there are no instructions below the settings"),
    tr_later("the front matter is empty; a worker needs a name"),
    tr_later("a worker file has at most {most} KB; shorten it"),
    tr_later("`{key}` must be a list of toolsets"),
    tr_later("`{key}` must be a mapping of settings, or empty"),
    tr_later("it has no tool `{name}`; its tools are none"),
    tr_later("it has no tool `{name}`; its tools are {tools}"),
    tr_later("`{name}` is set up in the configuration; here it takes only `{key}`"),
    tr_later("say it for each tool of `{name}` by its name"),
    tr_later(
        "there is no toolset {name}; known are {names}, and others are set up under "
        "`toolsets` in the configuration first"
    ),
    tr_later("`{name}` has no tool {foreign}; it has {tools}"),
    tr_later("unknown setting `{key}`; known are {known}"),
    tr_later("unknown setting `{key}`"),
    tr_later("unknown key `{key}`"),
)
"""What is wrong inside a `.worker` file, behind its line and column."""

WORKER_FILES: Final = (
    tr_later("{name} cannot be read: {strerror}."),
    tr_later("{name} is not a plain file."),
    tr_later("{name} can be changed by everybody; run chmod o-w on it."),
    tr_later("{name} is longer than {most} KB; shorten it."),
    tr_later("{name} is the file of {owner}; give both the same name."),
)
"""The same of the file as a whole."""

WORKERS_NAMED: Final = (
    tr_later(
        "There is no file for the worker {name}, to which {by} may delegate, in {directory}; "
        "see `silas workers list`."
    ),
    tr_later("There is no file for the worker {name} in {directory}; see `silas workers list`."),
    tr_later("The file of the worker {name}, to which {by} may delegate, cannot be used: {fault}"),
    tr_later("The file of the worker {name} cannot be used: {fault}"),
)
"""A worker that a plan or another worker names."""
