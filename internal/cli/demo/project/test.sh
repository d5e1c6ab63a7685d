#!/usr/bin/env bash
# Checks slug.sh; exits 1 if anything is wrong.
. ./slug.sh
failed=0

check() { # check TITLE WANT
  got=$(slug "$1")
  if [ "$got" = "$2" ]; then
    echo "ok    $1"
  else
    echo "FAIL  $1: got '$got', want '$2'"
    failed=1
  fi
}

check "Hello World" "hello-world"
check "Two  blanks" "two-blanks"
check "What's new?" "whats-new"
exit $failed
