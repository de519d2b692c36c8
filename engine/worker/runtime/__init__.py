"""How one run goes: from the request to its last word."""
