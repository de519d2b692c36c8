"""`python -m engine.rules` prints all rules as JSON."""

import sys

import msgspec

from engine.rules.table import texts

sys.stdout.write(msgspec.json.encode(texts()).decode() + "\n")
