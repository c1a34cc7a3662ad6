"""What the owner wants to be told, and when: words, times, the table. Tells nobody itself."""
