"""The built-in tools: files, shell, Python, looking, recall, questions to the owner."""
