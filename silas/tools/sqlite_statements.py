"""Statements of the journal of effects that only SQLite understands: they look into its JSON."""

ANSWERS_OF_A_TASK = """
SELECT DISTINCT tool_name, json_extract(result, '$.source') FROM tool_outcomes
WHERE task_id = :task_id AND json_valid(result) ORDER BY 1, 2
"""

EVERY_ANSWER = """
SELECT DISTINCT tool_name, json_extract(result, '$.source') FROM tool_outcomes
WHERE json_valid(result) ORDER BY 1, 2
"""
