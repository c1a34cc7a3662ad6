"""What one run of a task may do: its plan's approval, grants, tokens for calls, hosts, policy."""
