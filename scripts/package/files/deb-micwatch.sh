#!/bin/sh
# Runs the program with the configuration of the service, unless another one is named. A demo needs no configuration.
here=$(dirname -- "$(readlink -f -- "$0")")
case " $* " in
  *' --demo '*) ;;
  *)
    : "${MICWATCH_CONFIG=/etc/micwatch/micwatch.yaml}"
    export MICWATCH_CONFIG
    ;;
esac
exec "$here/../../opt/micwatch/bin/node" "$here/../../opt/micwatch/dist/main.js" "$@"
