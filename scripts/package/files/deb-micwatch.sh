#!/bin/sh
# Runs the program with the configuration and the variables of the service, unless another configuration is named. A demo
# needs neither.
here=$(dirname -- "$(readlink -f -- "$0")")
config=/etc/micwatch/micwatch.yaml
case " $* " in
  *" --config $config "* | *" --config=$config "*) MICWATCH_CONFIG=$config ;;
  *' --demo '* | *' --config '* | *' --config='*) config= ;;
  *) : "${MICWATCH_CONFIG:=$config}" ;;
esac
if [ -n "$config" ] && [ "$MICWATCH_CONFIG" = "$config" ]; then
  export MICWATCH_CONFIG
  if [ -e /etc/micwatch/micwatch.env ]; then
    : "${MICWATCH_ENVIRONMENT_FILE:=/etc/micwatch/micwatch.env}"
    export MICWATCH_ENVIRONMENT_FILE
  fi
fi
exec "$here/../../opt/micwatch/bin/node" "$here/../../opt/micwatch/dist/main.js" "$@"
