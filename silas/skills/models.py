"""The `skills:` section of the configuration (spec 11)."""

from typing import Literal

from pydantic import ConfigDict, Field, model_validator

from silas.types import FrozenModel


class SkillValidationConfig(FrozenModel):
    """What an installed skill must satisfy, by fixed rules and never by a model's judgement.

    Attributes:
        description_min_chars, description_max_chars: How long a description is.
        fail_on_process_heavy_description: Refuse descriptions that tell how instead of what.
        forbid_undeclared_env: Refuse scripts that read environment variables not declared.
    """

    description_min_chars: int = Field(default=24, ge=1)
    description_max_chars: int = Field(default=1024, ge=1)
    fail_on_process_heavy_description: bool = True
    forbid_undeclared_env: bool = True

    @model_validator(mode="after")
    def _least_before_most(self) -> "SkillValidationConfig":
        if self.description_min_chars > self.description_max_chars:
            raise ValueError("description_min_chars is greater than description_max_chars")
        return self


class SkillImportConfig(FrozenModel):
    """From where skills may be imported, and that a report of every change is kept."""

    allow_external: bool = True
    allowed_sources: tuple[Literal["github", "local_path"], ...] = ("github", "local_path")
    require_transform_report: bool = True

    @model_validator(mode="after")
    def _external_needs_a_report(self) -> "SkillImportConfig":
        if self.allow_external and not self.require_transform_report:
            raise ValueError("allow_external needs require_transform_report: true")
        return self


class SkillsConfig(FrozenModel):
    """The `skills:` section; `import` is a Python keyword, hence the field's other name."""

    model_config = ConfigDict(frozen=True, extra="forbid", serialize_by_alias=True)

    validation: SkillValidationConfig = SkillValidationConfig()
    import_: SkillImportConfig = Field(default=SkillImportConfig(), alias="import")
