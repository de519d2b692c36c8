"""What the rules for errors say of a program that failed, by what went wrong."""
