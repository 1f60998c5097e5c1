#!/bin/sh
# Starts the service and opens its page. Needs no other program, unless it is started through a link.
file=$0
if [ -L "$file" ]; then file=$(readlink -f -- "$file"); fi
case $file in
  */*) here=$(CDPATH='' cd -- "${file%/*}" && pwd -P) ;;
  *) here=$(pwd -P) ;;
esac
exec "$here/bin/node" "$here/launch.js" "$@"
