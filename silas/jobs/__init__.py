"""What runs later or again: one port, and the engine of this process. No rule of any job."""
