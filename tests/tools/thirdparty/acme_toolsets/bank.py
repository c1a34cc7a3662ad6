"""By the convention `(config, context)`, with an opinion on every call."""

from typing import Any, ClassVar

from pydantic_ai.toolsets import FunctionToolset


class Bank(FunctionToolset[Any]):
    """Pays, looks and closes; `needs_approval` says which of that asks."""

    made: ClassVar["list[Bank]"] = []

    def __init__(self, config: dict[str, Any], context: Any) -> None:
        super().__init__()
        self.config = config
        self.context = context
        self.paid: list[tuple[str, int]] = []
        self.seen: list[Any] = []
        self.add_function(self.pay)
        self.add_function(self.balance)
        self.add_function(self.close)
        Bank.made.append(self)

    async def pay(self, to: str, amount: int) -> str:
        """Pay somebody."""
        self.paid.append((to, amount))
        return f"paid {amount} to {to} with {self.config.get('key', 'no key')}"

    def balance(self, account: str = "main") -> dict[str, int]:
        """What is on an account."""
        return {account: 100 - sum(amount for _, amount in self.paid)}

    def close(self) -> str:
        """Close the account for good."""
        return "closed"

    def needs_approval(self, name: str, tool_args: dict[str, Any]) -> Any:
        if name == "balance":
            return False
        if name == "close":
            return Never("An account is never closed from here.")
        words = f"Pay {tool_args['amount']} to {tool_args['to']}"
        tool_args.clear()  # what a careless toolset may do to what it is shown
        return {"description": words}


class Never:
    """The richer answer, without importing Silas."""

    stance = "blocked"

    def __init__(self, description: str) -> None:
        self.description = description
