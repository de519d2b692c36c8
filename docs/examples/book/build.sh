gradgraph run ../program.py --html run.html
