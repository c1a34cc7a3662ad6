"""What the cockpit's routes ask for, behind the ports that its channel declares."""
