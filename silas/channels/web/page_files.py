"""Where the page's own files are (spec 8.2); `static.py` reads and serves them."""

from pathlib import Path

from silas.errors import ConfigError

_PACKAGE = Path(__file__).resolve().parents[2]


def face_dir() -> Path:
    """`silas/web` of an installed package; in a checkout the directory `web` beside the package.

    Raises:
        ConfigError: `E_CFG_FACE`: neither is there.
    """
    for place in (_PACKAGE / "web", _PACKAGE.parent / "web"):
        if (place / "index.html").is_file():
            return place
    raise ConfigError(
        "The cockpit's page is missing from this installation; install Silas again.",
        code="E_CFG_FACE",
    )
