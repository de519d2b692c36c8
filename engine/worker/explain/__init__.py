"""What only the running process knows of a failure."""
