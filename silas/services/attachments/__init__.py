"""Files attached to conversations: taken in, listed, removed, and shown as pictures."""
