"""The project that `silas demo` makes, of whose two tests one fails, and the request to mend it."""

REQUEST = "fix the failing test"

BUGGY = {
    "orders.py": '''\
"""Orders as lines of text, and what is still open."""


def parse(line):
    number, status, total = line.strip().split(",")
    return {"number": int(number), "status": status, "total": float(total)}


def open_orders(lines):
    return [order for order in map(parse, lines) if order["status"] is "open"]


def revenue(lines):
    return sum(order["total"] for order in map(parse, lines))
''',
    "test_orders.py": """\
import unittest

from orders import open_orders, revenue

LINES = ["1,open,10.50", "2,paid,20.00", "3,open,5.25"]


class Orders(unittest.TestCase):
    def test_open_orders_are_found(self):
        self.assertEqual([order["number"] for order in open_orders(LINES)], [1, 3])

    def test_revenue_is_the_sum(self):
        self.assertEqual(revenue(LINES), 35.75)
""",
}
"""Each file's text by its name. It needs Python's standard library alone."""
