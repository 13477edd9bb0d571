#!/usr/bin/env bash
# Writes what scripts print and log in the original MySQL Proxy 0.8.5 to the .out files beside them.
#   record.sh MYSQL_PROXY [FILE.lua ...]     MYSQL_PROXY: the program; all scripts of this folder if none is named
# A script's main chunk runs when a client connects, so no server is needed behind the proxy. What the program says of itself, and
# positions in its C and Lua sources, are left out.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
program=$1; shift
[ $# -gt 0 ] || set -- "$here"/*.lua
port=${PORT:-4149}
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
for script in "$@"; do
  name=$(basename "$script" .lua)
  cat "$here/prelude.lua_part" "$script" > "$work/$name.lua"
  : > "$work/log"
  stdbuf -oL "$program" --proxy-address=127.0.0.1:$port --proxy-backend-addresses=127.0.0.1:1 --log-level=debug \
    --pid-file="$work/pid" --proxy-lua-script="$work/$name.lua" >> "$work/log" 2>&1 < /dev/null &
  for _ in $(seq 100); do grep -q listening "$work/log" && break; sleep .05; done
  timeout 10 bash -c "exec 3<>/dev/tcp/127.0.0.1/$port; head -c 1 <&3 > /dev/null" || echo "$name: no end of the connection" >&2
  kill -9 "$(cat "$work/pid")"
  wait 2> /dev/null || true
  # A line of the log: only those of scripts, without the date. All else: without positions in the original's sources.
  LC_ALL=C sed -nE "
    s#$work/#/cases/#g; t changed; :changed
    s#^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{8}: (\([a-z]+\) \(/cases/)#\1#p; t
    /^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{8}: /d
    s#/[^ ]*\.c:[0-9]+: ##
    p" "$work/log" > "${script%.lua}.out"
done
