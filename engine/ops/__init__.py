"""Facts about PyTorch's ops, each said once in `table.py`: a family for each, and sets of those that share a trait.

A set of names that only one diagnosis needs stands there."""

from engine.ops.facts import FACTS, Facts, family_of, named, out_of_place

__all__ = ["FACTS", "Facts", "family_of", "out_of_place"]

BROADCASTING = named("broadcasts")
COMPARING = named("compares")
COPIES = named("copies")
DETACHES = named("detaches")
FILLS = named("fills")
JOINING = named("joins")
LENDS = named("lends")
LIKES = named("like")
MAKES_LEAF = named("makes_leaf")
MOVES = named("moves")
PASSES = named("passes")
PROMOTING = named("promotes")
PROPERTIES = named("property")
READS = named("reads")
SETS = named("sets")
TAKES_NUMBERS = named("numbers")
UNINITIALISED = named("uninitialised")
UPDATES = named("updates")
VIEWS = named("view")
WRITES_SILENTLY = named("writes_silently")
