# slug TEXT: the name of a page for a title, in lower case, words joined by one dash.
slug() {
  echo "$1" | tr 'A-Z' 'a-z' | tr ' ' '-'
}
