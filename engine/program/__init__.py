"""The user's source: its tree, places in it, names, and edits to it. Pure; nothing of it is ever run here."""
