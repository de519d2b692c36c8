class Liar:
    __class__ = int
    def __repr__(self):
        return 'x' * 10 ** 7
    def __eq__(self, other):
        raise ValueError
    __hash__ = None
    def __getattr__(self, name):
        return self

x = Liar()
y = [x] * 100
