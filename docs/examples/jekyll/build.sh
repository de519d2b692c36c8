jekyll build
