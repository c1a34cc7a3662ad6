"""Capabilities that work items name. What must not go in: tools that need no skill."""

from silas.skills.models import SkillsConfig
from silas.skills.port import Skills, SkillText, usable_texts

__all__ = ["SkillText", "Skills", "SkillsConfig", "usable_texts"]
