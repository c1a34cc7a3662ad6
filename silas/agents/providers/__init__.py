"""Models by the line that names them: made, retried, replaced by another, probed."""
