"""The permanent session: connections, turns in order, plans proposed and dispatched."""
