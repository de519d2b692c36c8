project = "深度学习"
language = "zh_CN"
extensions = ["sphinx_gradgraph", "myst_parser"]
