"""The trace of a program that several tests look at: it runs once in a process."""

import functools

import engine

run = functools.cache(engine.run)
