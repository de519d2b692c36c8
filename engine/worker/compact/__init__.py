"""What keeps the record of long programs small."""
