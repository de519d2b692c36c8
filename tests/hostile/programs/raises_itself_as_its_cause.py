error = ValueError('round')
error.__cause__ = error
raise error
