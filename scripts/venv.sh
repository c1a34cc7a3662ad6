#!/bin/sh
# Makes the environment in $2 with the interpreter $1; some distributions ship venv apart.
set -eu
"$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || {
  echo "Silas needs Python 3.11 or newer; call: make PYTHON=/path/to/python3.11" >&2; exit 2; }
[ -x "$2/bin/pip" ] && exit 0
rm -rf "$2"
"$1" -m venv "$2" >/dev/null 2>&1 && exit 0
rm -rf "$2"
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
  echo "Installing python3-venv..." >&2
  export DEBIAN_FRONTEND=noninteractive
  apt-get install -y -qq python3-venv >/dev/null 2>&1 \
    || { apt-get update -qq >/dev/null && apt-get install -y -qq python3-venv >/dev/null; }
  exec "$1" -m venv "$2"
fi
echo "Python's venv module is missing. Install it with your package manager, for example:" >&2
echo "  sudo apt-get install python3-venv" >&2
exit 2
