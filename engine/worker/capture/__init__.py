"""What is recorded, one room a kind of fact."""
