"""With a model of its configuration."""

from typing import Any, ClassVar

from pydantic import BaseModel, Field, SecretStr, field_validator
from pydantic_ai.toolsets import FunctionToolset


class Settings(BaseModel):
    """What can be set."""

    station: str = Field(min_length=2)
    token: SecretStr = SecretStr("")
    timeout: float = 5.0

    @field_validator("token")
    @classmethod
    def _spoken(cls, value: SecretStr) -> SecretStr:
        if value.get_secret_value().startswith("bad"):
            raise ValueError(f"the token {value.get_secret_value()} is bad")
        return value


class Weather(FunctionToolset[Any]):
    """Tells the weather of a station; has no opinion on its calls."""

    config_model = Settings

    def __init__(self, config: Settings, context: Any) -> None:
        super().__init__()
        self.config = config
        self.add_function(self.forecast)

    async def forecast(self, day: int) -> str:
        """The weather of a day."""
        return f"{self.config.station}, day {day}: rain"


class Schooled(Weather):
    """The same, with a JSON schema in place of the model."""

    config_model = None
    config_schema: ClassVar[dict[str, Any]] = {
        "type": "object",
        "properties": {"station": {"type": "string"}, "timeout": {"type": "number"}},
        "required": ["station"],
        "additionalProperties": False,
    }

    def __init__(self, config: dict[str, Any], context: Any) -> None:
        super().__init__(Settings(**config), context)
