#!/bin/sh
# Installs what the sandbox needs where this user may, and names the one command where not.
set -eu
command -v bwrap >/dev/null 2>&1 && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
  echo "Installing bubblewrap, the sandbox..." >&2
  export DEBIAN_FRONTEND=noninteractive
  apt-get install -y -qq bubblewrap >/dev/null 2>&1 \
    || { apt-get update -qq >/dev/null && apt-get install -y -qq bubblewrap >/dev/null; }
  exit 0
fi
echo "Silas runs commands only inside a sandbox, and bubblewrap is missing. Install it with:" >&2
if command -v apt-get >/dev/null 2>&1; then echo "  sudo apt-get install bubblewrap" >&2
elif command -v dnf >/dev/null 2>&1; then echo "  sudo dnf install bubblewrap" >&2
elif command -v pacman >/dev/null 2>&1; then echo "  sudo pacman -S bubblewrap" >&2
else echo "  your package manager's package 'bubblewrap'" >&2
fi
exit 2
