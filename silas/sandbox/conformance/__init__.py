"""Does this sandbox hold? Every known attack, made inside it. Attacks stay in this room."""
