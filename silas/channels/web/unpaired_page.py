"""What a browser without a session sees in the cockpit's place, in the owner's language."""

from silas.language import spoken_language, tr

_PAGE = """<!doctype html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Silas</title>
{again}<link rel="stylesheet" href="/static/style.css">
</head>
<body class="closed">
<main>
<h1>{heading}</h1>
<p>{words}</p>
</main>
</body>
</html>
"""

_ONCE_MORE = '<meta http-equiv="refresh" content="0">\n'


def unpaired_page(*, again: bool) -> bytes:
    """How this browser is paired.

    Args:
        again: Whether it asks once more by itself, since its cookie may have been kept back.
    """
    words = tr(
        "Open the link that {start} printed, or get a fresh one: with “Pair another device” under "
        "“More”, “Devices” on a paired browser, or with {link} in a terminal.",
        start="<code>silas start</code>",
        link="<code>silas devices link</code>",
    )
    page = _PAGE.format(
        language=spoken_language(),
        again=_ONCE_MORE if again else "",
        heading=tr("This browser is not paired with Silas."),
        words=words,
    )
    return page.encode()
