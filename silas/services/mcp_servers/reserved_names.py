"""Variables and headers that no MCP server is given: they choose code, or are the connection's."""

from typing import Final

_CHOOSES_CODE: Final = frozenset(
    {
        *("PATH", "HOME", "PWD", "LANG", "SHELL", "TMPDIR", "IFS", "ENV", "PS4", "CDPATH"),
        *("SHELLOPTS", "BASHOPTS", "PROMPT_COMMAND", "GLOBIGNORE", "GCONV_PATH", "GLIBC_TUNABLES"),
        *("LOCPATH", "NLSPATH", "TERMINFO", "CLASSPATH", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS"),
        *("JDK_JAVA_OPTIONS", "MAVEN_OPTS", "GRADLE_OPTS", "PHPRC", "PHP_INI_SCAN_DIR"),
        *("EDITOR", "VISUAL", "PAGER", "MANPAGER", "BROWSER", "LESSOPEN", "LESSCLOSE"),
        *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "FTP_PROXY", "NO_PROXY"),
        *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "CURL_HOME"),
        *("UV_INDEX", "UV_INDEX_URL", "UV_DEFAULT_INDEX", "UV_EXTRA_INDEX_URL", "UV_PYTHON"),
        *("GIT_SSH", "GIT_SSH_COMMAND", "GIT_EXEC_PATH", "GIT_ASKPASS", "SSH_ASKPASS"),
        *("GIT_EDITOR", "GIT_PAGER", "GIT_SEQUENCE_EDITOR", "GIT_EXTERNAL_DIFF", "GIT_DIR"),
        *("GIT_WORK_TREE", "GIT_TEMPLATE_DIR", "GIT_PROXY_COMMAND", "GOFLAGS", "RUSTC_WRAPPER"),
    }
)
_CHOOSE_CODE: Final = (
    *("LD_", "DYLD_", "BASH_", "PYTHON", "NODE_", "NPM_CONFIG_", "PERL", "RUBY", "GEM_"),
    *("BUNDLE_", "LUA_", "PIP_", "GIT_CONFIG", "OPENSSL_", "DOTNET_", "CORECLR_", "COR_"),
    *("XDG_", "SILAS_"),
)
"""Beginnings of variables with which whoever sets them chooses which code runs, or who is asked."""

_OF_THE_CONNECTION: Final = frozenset(
    {
        *("connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "host"),
        *("content-length", "content-type", "content-encoding", "accept", "accept-encoding"),
        *("expect", "date", "via", "origin", "referer", "last-event-id", "set-cookie", "range"),
        *("x-http-method", "x-http-method-override", "x-method-override", "forwarded"),
    }
)
_OF_CONNECTIONS: Final = ("proxy-", "sec-", "mcp-", "x-forwarded-", "access-control-")
"""Beginnings of headers that belong to the connection, or to the protocol spoken over it."""


def chooses_code(variable: str) -> bool:
    """Whether a variable can change which code a program runs, or where it connects."""
    shouted = variable.upper()
    return shouted in _CHOOSES_CODE or shouted.startswith(_CHOOSE_CODE)


def is_of_connection(header: str) -> bool:
    """Whether a header belongs to the connection, or to the protocol spoken over it."""
    small = header.lower()
    return small in _OF_THE_CONNECTION or small.startswith(_OF_CONNECTIONS)
