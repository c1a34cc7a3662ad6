"""What comes by the clock: goals, reminders, what is ahead, and the service that runs them."""
