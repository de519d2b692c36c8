gradgraph run ../program.py --html run.html
jupyter nbconvert --to html notes.ipynb
