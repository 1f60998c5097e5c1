#!/bin/sh
# Runs the program with the Node.js beside it. Needs no other program, unless it is started through a link.
file=$0
if [ -L "$file" ]; then file=$(readlink -f -- "$file"); fi
case $file in
  */*) here=$(CDPATH='' cd -- "${file%/*}" && pwd -P) ;;
  *) here=$(pwd -P) ;;
esac
exec "$here/bin/node" "$here/dist/main.js" "$@"
