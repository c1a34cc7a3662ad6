#!/bin/sh
# Installs the browser that the cockpit's tests drive where this user may, and names the one command
# where not. Never fails: without a browser those tests are skipped, and the run says so at its end.
set -u
# certutil lets that browser trust an authority, as a phone's owner does; its tests are skipped without.
trust() {
  command -v certutil >/dev/null 2>&1 && return
  [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 || return
  export DEBIAN_FRONTEND=noninteractive
  apt-get install -y -qq --no-install-recommends libnss3-tools >/dev/null 2>&1 || true
}
# The engine without its windows, which drives most of those tests faster; the whole browser does, too.
light() {
  command -v chromium-headless-shell >/dev/null 2>&1 && return
  [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 || return
  export DEBIAN_FRONTEND=noninteractive
  apt-get install -y -qq --no-install-recommends chromium-headless-shell >/dev/null 2>&1 || true
}
for name in chromium chromium-browser google-chrome google-chrome-stable; do
  if command -v "$name" >/dev/null 2>&1; then
    trust
    light
    exit 0
  fi
done
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
  echo "Installing chromium, the browser that the cockpit's tests drive..." >&2
  export DEBIAN_FRONTEND=noninteractive
  install() { apt-get install -y -qq --no-install-recommends chromium >/dev/null 2>&1; }
  install || { apt-get update -qq >/dev/null 2>&1 && install; }
  trust
  light
  command -v chromium >/dev/null 2>&1 && exit 0
  echo "It could not be installed, so the tests in a browser are skipped." >&2
  exit 0
fi
echo "The tests in a browser are skipped, because there is no chromium. Install it with:" >&2
if command -v apt-get >/dev/null 2>&1; then echo "  sudo apt-get install chromium" >&2
elif command -v dnf >/dev/null 2>&1; then echo "  sudo dnf install chromium" >&2
elif command -v pacman >/dev/null 2>&1; then echo "  sudo pacman -S chromium" >&2
else echo "  your package manager's package 'chromium'" >&2
fi
exit 0
