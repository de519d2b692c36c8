sphinx-build -W -b html . _build/html
