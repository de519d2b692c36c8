"""The name of the program that a worker runs."""

PROGRAM = "<program>"
"""File name the program is compiled under."""
