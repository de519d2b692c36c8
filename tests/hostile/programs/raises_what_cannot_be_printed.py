class Odd(Exception):
    def __str__(self):
        raise Odd

raise Odd
