"""Tasks with code: mend, add, refactor, rename."""

from typing import Final

from benchmarks.evals.task import Result, Task, has, kept, lacks, lines_are, moved

_CALENDAR = "def is_leap(year):\n    return year % 4 == 0\n"
_CALENDAR_TEST = (
    "import unittest\n\nfrom calendars import is_leap\n\n\nclass LeapYears(unittest.TestCase):\n"
    "    def test_fourth(self):\n        self.assertTrue(is_leap(2024))\n\n"
    "    def test_century(self):\n        self.assertFalse(is_leap(1900))\n"
    "        self.assertTrue(is_leap(2000))\n\n\nif __name__ == '__main__':\n    unittest.main()\n"
)
_LEAP = "    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)\n"
_STATS = (
    "def median(values):\n    ordered = sorted(values)\n    return ordered[len(ordered) // 2]\n"
)
_MEDIAN = (
    "def median(values):\n    ordered = sorted(values)\n    half = len(ordered) // 2\n"
    "    if len(ordered) % 2:\n        return ordered[half]\n"
    "    return (ordered[half - 1] + ordered[half]) / 2\n"
)
_SETTINGS = '{\n  "name": "desk",\n  "port": 8420,\n  "hosts": ["a.test", "b.test",],\n}\n'
_COUNT = '#!/bin/sh\n# Prints how many lines each text file of a folder has.\ncd "$1" || exit 1\nfor f in $(ls *.txt); do\n  wc -l < $f\ndone\n'
_GREET = (
    "import argparse\n\n\ndef main(argv=None):\n    parser = argparse.ArgumentParser()\n"
    "    parser.add_argument('name')\n    args = parser.parse_args(argv)\n"
    "    print(f'Hello, {args.name}!')\n\n\nif __name__ == '__main__':\n    main()\n"
)
_PRICE = (
    "def total(net, rate=19):\n    if net < 0:\n        raise ValueError('net is negative')\n"
    "    return round(net * (100 + rate) / 100, 2)\n"
)
_PRICE_TEST = (
    "import unittest\n\nfrom price import total\n\n\nclass Totals(unittest.TestCase):\n"
    "    def test_rate(self):\n        self.assertEqual(total(100), 119)\n"
    "        self.assertEqual(total(10, 7), 10.7)\n\n    def test_negative(self):\n"
    "        with self.assertRaises(ValueError):\n            total(-1)\n"
)
_APP = (
    "import math\n\n\ndef area(radius):\n    return math.pi * radius**2\n\n\n"
    "def label(radius):\n    return f'circle of {area(radius):.2f}'\n"
)
_TAXED = "def {0}(net):\n    return net * 1.19\n"

_MUTANTS: Final = """
import pathlib, re, shutil, subprocess, sys, tempfile
source = pathlib.Path('price.py').read_text()
def passes(text):
    with tempfile.TemporaryDirectory() as place:
        shutil.copytree('.', place, dirs_exist_ok=True)
        (pathlib.Path(place) / 'price.py').write_text(text)
        ran = subprocess.run([sys.executable, '-m', 'unittest', 'test_price'], cwd=place,
                             capture_output=True, text=True)
        return ran.returncode == 0 and re.search(r'Ran [1-9]', ran.stderr)
assert passes(source), 'the tests fail on price.py as it is'
for old, new in (('100 + rate', '100 - rate'), ('net < 0', 'net < -9'), (', 2)', ', 0)')):
    assert not passes(source.replace(old, new)), f'the tests do not see {new!r}'
"""


def _unittest(module: str) -> str:
    return (
        f"import unittest\nran = unittest.main(module={module!r}, exit=False).result\n"
        "assert ran.testsRun and ran.wasSuccessful(), 'the tests fail'\n"
    )


CODE: Final = (
    Task(
        "fix-leap",
        "One of the tests here fails. Fix the code, not the test.",
        {"calendars.py": _CALENDAR, "test_calendars.py": _CALENDAR_TEST},
        (kept("test_calendars.py"),),
        Result({"calendars.py": "def is_leap(year):\n" + _LEAP}),
        Result({"calendars.py": "def is_leap(year):\n    return year in (2024, 2000)\n"}),
        ("calendars.py",),
        _unittest("test_calendars")
        + "from calendars import is_leap\nassert is_leap(2400) and not is_leap(2100)\n",
        most_requests=6,
    ),
    Task(
        "fix-median",
        "median() in stats.py is wrong for an even number of values. Please fix it.",
        {"stats.py": _STATS, "README.md": "# Stats\n\nSmall functions over numbers.\n"},
        (),
        Result({"stats.py": _MEDIAN}),
        Result({"stats.py": _STATS.replace("// 2", "// 3")}),
        ("stats.py", "test*.py", "tests/*.py"),
        "from stats import median\nassert median([4, 1, 3, 2]) == 2.5\nassert median([3, 1, 2]) == 2\n",
        most_requests=6,
    ),
    Task(
        "fix-import",
        "`python3 main.py` fails since I renamed a module. Make it run again.",
        {
            "main.py": "from helpers import shout\n\nprint(shout('ready'))\n",
            "text_tools.py": "def shout(word):\n    return word.upper()\n",
        },
        (kept("text_tools.py"),),
        Result({"main.py": "from text_tools import shout\n\nprint(shout('ready'))\n"}),
        Result({"main.py": "print('ready')\n"}),
        ("main.py",),
        "import contextlib, io, runpy\nout = io.StringIO()\n"
        "with contextlib.redirect_stdout(out):\n    runpy.run_path('main.py')\n"
        "assert out.getvalue() == 'READY\\n', out.getvalue()\n",
        most_requests=6,
    ),
    Task(
        "fix-json",
        "settings.json cannot be read as JSON. Fix it, and keep all its values.",
        {
            "settings.json": _SETTINGS,
            "app.py": "import json\n\nprint(json.load(open('settings.json')))\n",
        },
        (kept("app.py"),),
        Result(
            {"settings.json": '{"name": "desk", "port": 8420, "hosts": ["a.test", "b.test"]}\n'}
        ),
        Result({"settings.json": "{}\n"}),
        ("settings.json",),
        "import json\nassert json.load(open('settings.json')) == "
        "{'name': 'desk', 'port': 8420, 'hosts': ['a.test', 'b.test']}\n",
        most_requests=6,
    ),
    Task(
        "fix-shell",
        "count.sh goes wrong for file names with spaces. Repair it.",
        {"count.sh": _COUNT},
        (),
        Result({"count.sh": _COUNT.replace("$(ls *.txt)", "*.txt").replace("< $f", '< "$f"')}),
        Result({"count.sh": _COUNT.replace("< $f", '< "$f"')}),
        ("count.sh",),
        "import pathlib, subprocess, tempfile\nplace = pathlib.Path(tempfile.mkdtemp())\n"
        "(place / 'a b.txt').write_text('1\\n2\\n')\n(place / 'c.txt').write_text('1\\n')\n"
        "ran = subprocess.run(['sh', 'count.sh', str(place)], capture_output=True, text=True)\n"
        "assert ran.stdout.split() == ['2', '1'], ran\n",
        most_requests=6,
    ),
    Task(
        "add-option",
        "Add an option --upper to greet.py that prints the greeting in capital letters.",
        {"greet.py": _GREET},
        (),
        Result(
            {
                "greet.py": _GREET.replace(
                    "    args",
                    "    parser.add_argument('--upper', action='store_true')\n    args",
                    1,
                ).replace(
                    "    print(f'Hello, {args.name}!')",
                    "    text = f'Hello, {args.name}!'\n"
                    "    print(text.upper() if args.upper else text)",
                )
            }
        ),
        Result({"greet.py": _GREET.replace("Hello", "HELLO")}),
        ("greet.py", "test*.py", "README.md"),
        "import subprocess, sys\n"
        "def run(*words):\n    return subprocess.run([sys.executable, 'greet.py', *words],"
        " capture_output=True, text=True).stdout\n"
        "assert run('Ada') == 'Hello, Ada!\\n'\nassert run('Ada', '--upper') == 'HELLO, ADA!\\n'\n",
        most_requests=6,
    ),
    Task(
        "add-function",
        "Write a function slugify(text) in slugs.py: lower case, words joined by single hyphens, "
        "nothing but letters a to z, digits and hyphens, none at the ends.",
        {
            "README.md": "# Blog\n\nTools for a blog.\n",
            "blog.py": "def title(post):\n    return post['title']\n",
        },
        (kept("blog.py"),),
        Result(
            {
                "slugs.py": "import re\n\n\ndef slugify(text):\n"
                "    return re.sub('[^a-z0-9]+', '-', text.lower()).strip('-')\n"
            }
        ),
        Result({"slugs.py": "def slugify(text):\n    return text.lower().replace(' ', '-')\n"}),
        ("slugs.py", "test*.py", "tests/*.py"),
        "from slugs import slugify\nassert slugify('  Hello, World!  ') == 'hello-world'\n"
        "assert slugify('A -- B 2') == 'a-b-2'\nassert slugify('?') == ''\n",
        most_requests=6,
    ),
    Task(
        "add-test",
        "Write unit tests for price.py with unittest, in test_price.py.",
        {"price.py": _PRICE},
        (kept("price.py"),),
        Result(
            {
                "test_price.py": _PRICE_TEST
                + "\n    def test_cents(self):\n        self.assertEqual(total(0.99), 1.18)\n"
            }
        ),
        Result({"test_price.py": "import unittest\n"}),
        ("test_price.py",),
        _MUTANTS,
        most_requests=6,
    ),
    Task(
        "add-row",
        "Ada worked 7 hours on 2026-03-02. Put that into hours.csv, in the order of the dates.",
        {"hours.csv": "date,name,hours\n2026-03-01,Lin,8\n2026-03-03,Max,5\n"},
        (
            lines_are(
                "hours.csv",
                "date,name,hours",
                "2026-03-01,Lin,8",
                "2026-03-02,Ada,7",
                "2026-03-03,Max,5",
            ),
        ),
        Result(
            {"hours.csv": "date,name,hours\n2026-03-01,Lin,8\n2026-03-02,Ada,7\n2026-03-03,Max,5\n"}
        ),
        Result(
            {"hours.csv": "date,name,hours\n2026-03-01,Lin,8\n2026-03-03,Max,5\n2026-03-02,Ada,7\n"}
        ),
        ("hours.csv",),
        most_requests=6,
    ),
    Task(
        "refactor-move",
        "Move the function area from app.py into a new module geometry.py. app.py should import it.",
        {"app.py": _APP},
        (has("geometry.py", r"^def area"), lacks("app.py", r"^def area")),
        Result(
            {
                "geometry.py": "import math\n\n\ndef area(radius):\n    return math.pi * radius**2\n",
                "app.py": "from geometry import area\n\n\ndef label(radius):\n"
                "    return f'circle of {area(radius):.2f}'\n",
            }
        ),
        Result(
            {"geometry.py": "import math\n\n\ndef area(radius):\n    return math.pi * radius**2\n"}
        ),
        ("app.py", "geometry.py", "test*.py"),
        "import app, geometry\nassert app.label(1) == 'circle of 3.14'\nassert app.area is geometry.area\n",
        most_requests=6,
    ),
    Task(
        "refactor-constant",
        "The factor 1.19 stands in three modules. Put it into tax.py as FACTOR and use that everywhere.",
        {name: _TAXED.format(name[:-3]) for name in ("books.py", "meals.py", "tools.py")},
        (
            has("tax.py", r"^FACTOR *= *1\.19"),
            *(lacks(name, r"1\.19") for name in ("books.py", "meals.py", "tools.py")),
        ),
        Result(
            {
                "tax.py": "FACTOR = 1.19\n",
                **{
                    f"{name}.py": f"from tax import FACTOR\n\n\ndef {name}(net):\n    return net * FACTOR\n"
                    for name in ("books", "meals", "tools")
                },
            }
        ),
        Result({"tax.py": "FACTOR = 1.19\n"}),
        ("tax.py", "books.py", "meals.py", "tools.py", "test*.py"),
        "import tax\ntax.FACTOR = 2\nimport books, meals, tools\n"
        "assert books.books(3) == meals.meals(3) == tools.tools(3) == 6\n",
        most_requests=6,
    ),
    Task(
        "rename-function",
        "Rename the function calc to total_price everywhere in this project.",
        {
            "shop.py": "def calc(items):\n    return sum(items)\n",
            "report.py": "from shop import calc\n\n\ndef report(items):\n    return f'Sum: {calc(items)}'\n",
            "docs/usage.md": "# Usage\n\n`calc(items)` adds up the items.\n",
            "calculator.txt": "The calculator is in room 4.\n",
        },
        (
            has("shop.py", r"^def total_price"),
            lacks("report.py", r"\bcalc\b"),
            lacks("docs/usage.md", r"\bcalc\b"),
            kept("calculator.txt"),
        ),
        Result(
            {
                "shop.py": "def total_price(items):\n    return sum(items)\n",
                "report.py": "from shop import total_price\n\n\ndef report(items):\n"
                "    return f'Sum: {total_price(items)}'\n",
                "docs/usage.md": "# Usage\n\n`total_price(items)` adds up the items.\n",
            }
        ),
        Result({"shop.py": "def total_price(items):\n    return sum(items)\n"}),
        ("shop.py", "report.py", "docs/usage.md"),
        "from report import report\nassert report([1, 2]) == 'Sum: 3'\n",
        most_requests=6,
    ),
    Task(
        "rename-files",
        "Rename the pictures: IMG_0001.txt becomes holiday-01.txt, and so on for all of them.",
        {f"IMG_000{n}.txt": f"picture {n}\n" for n in (1, 2, 3)}
        | {"index.md": "Three pictures.\n"},
        tuple(moved(f"IMG_000{n}.txt", f"holiday-0{n}.txt") for n in (1, 2, 3)),
        Result(
            {f"IMG_000{n}.txt": None for n in (1, 2, 3)}
            | {f"holiday-0{n}.txt": f"picture {n}\n" for n in (1, 2, 3)}
        ),
        Result({"IMG_0001.txt": None, "holiday-01.txt": "picture 1\n"}),
        ("IMG_000?.txt", "holiday-0?.txt"),
        most_requests=6,
    ),
    Task(
        "rename-key",
        "In the ini files the key `colour` must be called `color` now. Change it in all of them.",
        {
            "dev.ini": "[window]\ncolour = red\nsize = 3\n",
            "prod.ini": "[window]\nsize = 5\ncolour = blue\n",
            "notes.md": "The colour of the window is set in the ini files.\n",
        },
        (
            lines_are("dev.ini", "[window]", "color = red", "size = 3"),
            lines_are("prod.ini", "[window]", "size = 5", "color = blue"),
        ),
        Result(
            {
                "dev.ini": "[window]\ncolor = red\nsize = 3\n",
                "prod.ini": "[window]\nsize = 5\ncolor = blue\n",
            }
        ),
        Result({"dev.ini": "[window]\ncolor = red\nsize = 3\n"}),
        ("*.ini",),
        most_requests=6,
    ),
)
"""Fourteen tasks."""
