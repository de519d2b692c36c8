import numpy
x = numpy.ones(10 ** 10)
