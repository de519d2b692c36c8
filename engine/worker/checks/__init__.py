"""What is worked out after the program has ended, when it was asked for."""
