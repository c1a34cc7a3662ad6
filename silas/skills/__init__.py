"""Capabilities that work items name. What must not go in: tools that need no skill."""

from silas.skills.models import SkillsConfig
from silas.skills.port import NoSkills, Skills

__all__ = ["NoSkills", "Skills", "SkillsConfig"]
