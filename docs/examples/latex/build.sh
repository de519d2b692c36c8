gradgraph run ../program.py --pdf graph.pdf --step 10
xelatex -halt-on-error handout.tex
xelatex -halt-on-error handout.tex
