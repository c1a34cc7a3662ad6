"""Programs that run files of a directory without being given each one's name: tables.

`*.py` and the like are patterns for the last name of a path.
"""

from collections.abc import Mapping
from typing import Final

SHELLS: Final = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash", "mksh", "rbash", "fish"})

INTERPRETERS: Final[Mapping[str, frozenset[str]]] = {
    **{name: frozenset({"-o", "+o", "-O", "+O", "--rcfile"}) for name in SHELLS},
    "source": frozenset(),
    ".": frozenset(),
    "python": frozenset({"-W", "-X", "--check-hash-based-pycs"}),
    "pypy": frozenset({"-W", "-X"}),
    "node": frozenset({"-C", "--conditions"}),
    "nodejs": frozenset(),
    "deno": frozenset({"--config", "-c"}),
    "bun": frozenset(),
    "tsx": frozenset(),
    "ts-node": frozenset({"-P"}),
    "ruby": frozenset({"-I", "-C"}),
    "perl": frozenset({"-I"}),
    "php": frozenset({"-d", "-c"}),
    "lua": frozenset({"-l"}),
    "Rscript": frozenset(),
    "tclsh": frozenset(),
    "expect": frozenset(),
    "java": frozenset({"-cp", "-classpath", "--class-path"}),
    "pwsh": frozenset(),
    "ansible-playbook": frozenset({"-i"}),
    "bats": frozenset(),
    "run-parts": frozenset(),
}
"""Programs whose first word is the file that they run, and their options that take a value."""

SCRIPTED: Final = frozenset({"awk", "gawk", "mawk", "nawk", "sed"})
"""Programs that run a file only where `-f` names it."""

CODE: Final[Mapping[str, str]] = {name: "-c" for name in (*SHELLS, "python", "pypy")}
"""The option that gives a program its text, so that no file follows."""

LAUNCHERS: Final = frozenset(
    {
        "env", "xargs", "nice", "timeout", "nohup", "sudo", "doas", "busybox", "stdbuf", "setsid",
        "ionice", "chroot", "unshare", "flock", "time", "taskset", "strace", "ltrace", "watch",
        "find", "parallel", "setpriv", "chrt", "prlimit", "valgrind", "uv", "poetry", "pipenv",
        "pdm", "hatch", "rye", "npx", "pnpx", "bunx", "coverage", "kcov", "xvfb-run", "command",
        "exec", "entr", "fakeroot", "dotenv",
    }
)  # fmt: skip
"""Programs whose arguments are, or hold, a command line of their own."""

RUN_BY: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = {
    "make": (("GNUmakefile", "makefile", "Makefile"),),
    "gmake": (("GNUmakefile", "makefile", "Makefile"),),
    "just": (("justfile", "Justfile", ".justfile"),),
    "task": (("Taskfile.yml", "Taskfile.yaml"),),
    "ninja": (("build.ninja",),),
    "rake": (("Rakefile", "rakefile", "Rakefile.rb"),),
    "npm": (("package.json",),),
    "pnpm": (("package.json",),),
    "yarn": (("package.json",),),
    "npx": (("package.json",),),
    "bun": (("package.json",),),
    "pytest": (("conftest.py",),),
    "py.test": (("conftest.py",),),
    "tox": (("tox.ini",), ("pyproject.toml",), ("setup.cfg",)),
    "nox": (("noxfile.py",),),
    "invoke": (("tasks.py",),),
    "inv": (("tasks.py",),),
    "jest": (("jest.config.js", "jest.config.ts", "jest.config.mjs", "jest.config.cjs"),),
    "vitest": (("vitest.config.ts", "vitest.config.js", "vite.config.ts", "vite.config.js"),),
    "cargo": (("Cargo.toml",), ("build.rs",)),
    "cmake": (("CMakeLists.txt",),),
    "gradle": (("build.gradle", "build.gradle.kts"),),
    "gradlew": (("build.gradle", "build.gradle.kts"),),
    "mvn": (("pom.xml",),),
    "composer": (("composer.json",),),
    "bundle": (("Gemfile",),),
    "rspec": ((".rspec",), ("spec/spec_helper.rb",)),
    "docker-compose": (("compose.yaml", "compose.yml", "docker-compose.yml"),),
}
"""What a program runs in its directory: of each group the first that is there."""

READ_BY: Final[Mapping[str, tuple[str, ...]]] = {
    "pytest": (
        *("pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg"),
        "entry_points.txt",
    ),
    "unittest": (),
    "tox": ("setup.py",),
    "coverage": (".coveragerc", "pyproject.toml", "setup.cfg", "tox.ini"),
    "ruff": ("ruff.toml", ".ruff.toml", "pyproject.toml"),
    "mypy": ("mypy.ini", ".mypy.ini", "pyproject.toml", "setup.cfg"),
    "pyright": ("pyrightconfig.json", "pyproject.toml"),
    "basedpyright": ("pyrightconfig.json", "pyproject.toml"),
    "flake8": (".flake8", "setup.cfg", "tox.ini"),
    "pylint": (".pylintrc", "pylintrc", "pyproject.toml", "setup.cfg"),
    "black": ("pyproject.toml",),
    "isort": (".isort.cfg", "pyproject.toml", "setup.cfg"),
    "eslint": (".eslintrc*", "eslint.config.*", "package.json"),
    "tsc": ("tsconfig*.json",),
    "jest": ("package.json",),
    "vitest": ("package.json",),
    "mocha": (".mocharc*", "package.json"),
    "go": ("go.mod", "go.work"),
    "phpunit": ("phpunit.xml", "phpunit.xml.dist"),
}
"""What a program lets itself be told in a file beside; it decides what counts as passed."""

COLLECTS: Final[Mapping[str, tuple[str, ...]]] = {
    "pytest": ("test_*.py", "*_test.py", "conftest.py"),
    "py.test": ("test_*.py", "*_test.py", "conftest.py"),
    "unittest": ("test*.py",),
    "nose2": ("test*.py",),
    "tox": ("test_*.py", "*_test.py", "conftest.py"),
    "nox": ("test_*.py", "*_test.py", "conftest.py"),
    **{
        name: ("*.test.*", "*.spec.*")
        for name in ("jest", "vitest", "mocha", "npm", "pnpm", "yarn", "bun", "deno")
    },
    "go": ("*_test.go",),
    "rspec": ("*_spec.rb",),
    "bats": ("*.bats",),
    "phpunit": ("*Test.php",),
    "prove": ("*.t",),
}
"""Test files that a program finds by itself."""

ANYWHERE: Final = frozenset({"tox", "nox", "npm", "pnpm", "yarn", "bun", "deno", "go"})
"""Programs of those whose words are no directories."""

WORDS: Final = frozenset({"discover", "test", "run", "t"})
"""Words of test runners that are no directories, though they look like one."""

VALUED: Final = frozenset(
    {
        "-k", "-m", "-p", "-o", "-n", "-c", "-W", "-t", "--maxfail", "--tb", "--rootdir",
        "--timeout", "--junitxml", "--pattern", "--cov", "--config", "--reporter", "-s",
        "--start-directory",
    }
)  # fmt: skip
"""Options of test runners that take a value which is no path to tests, or one that is seen
elsewhere."""

LOOKS_ONLY: Final = frozenset(
    {
        "test", "[", "ls", "cat", "grep", "egrep", "fgrep", "rg", "wc", "head", "tail", "stat",
        "true", "false", "echo", "printf", "cd", "pwd", "sort", "uniq", "tr", "cut", "basename",
        "dirname", "readlink", "realpath", "file", "du", "df", "sha256sum", "md5sum", "sleep",
        "mkdir", "touch", "rm", "cp", "mv", "exit", "set", ":", "which", "type", "date", "jq",
        "xxd", "od", "tee", "seq",
    }
)  # fmt: skip
"""Programs that run no file: what they name is looked at, and is what the work was about."""
