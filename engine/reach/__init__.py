"""What passes reach, what autograd did not record around it, and where values slip past it."""
