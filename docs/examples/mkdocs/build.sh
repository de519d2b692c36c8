mkdocs build --strict
