#!/bin/sh
# CAMEL's DockerRuntime copies its tool server to /home and starts it there, as `python3 api.py`. This starts ours in its
# place, and everything else with the Python of the image.
here=/opt/workcell/camel
PATH=${PATH#"$here/bin:"}
[ "$PWD/$1" = /home/api.py ] || exec python3 "$@"
for loader in /opt/workcell/lib/ld*.so.[0-9]; do :; done
# CAMEL publishes the port on every address of the machine; CAMEL_SERVER_TOKEN sets a password, and without it nothing asks for one.
exec "$loader" --inhibit-cache --library-path /opt/workcell/lib /opt/workcell/node "$here/dist/cli/main.cjs" \
  camel-server "$@" --backend cli --workspace /home --listen 0.0.0.0:8000 --allow-remote --allow-anonymous
