#!/bin/sh
# Runs the program with the configuration of the service, unless another one is named.
here=$(dirname -- "$(readlink -f -- "$0")")
: "${MICWATCH_CONFIG=/etc/micwatch/micwatch.yaml}"
export MICWATCH_CONFIG
exec "$here/../../opt/micwatch/bin/node" "$here/../../opt/micwatch/dist/main.js" "$@"
