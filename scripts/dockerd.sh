#!/bin/sh
# A Docker engine for the tests alone: its own data and socket, no bridge, no firewall rules, and an
# image made of this system's own programs, so that nothing is fetched. For developers, as root.
#
#   scripts/dockerd.sh start DIR    then: export DOCKER_HOST=unix://DIR/docker.sock
#   scripts/dockerd.sh stop DIR
set -eu

image=silas-base
usage="usage: scripts/dockerd.sh start|stop DIR"
action=${1:?$usage}
dir=$(mkdir -p "${2:?$usage}" && cd "$2" && pwd)
export DOCKER_HOST="unix://$dir/docker.sock"

start() {
    command -v dockerd > /dev/null || { echo "run: apt-get install -y docker.io" >&2; exit 1; }
    setsid dockerd --data-root "$dir/data" --exec-root "$dir/exec" --pidfile "$dir/pid" \
        --host "$DOCKER_HOST" --bridge=none --iptables=false --ip6tables=false \
        --ip-forward=false --ip-masq=false > "$dir/log" 2>&1 < /dev/null &
    tries=0
    until docker version > /dev/null 2>&1; do
        tries=$((tries + 1))
        [ "$tries" -lt 60 ] || { echo "the engine does not start; see $dir/log" >&2; exit 1; }
        sleep 0.5
    done
    docker image inspect "$image" > /dev/null 2>&1 || import
    echo "export DOCKER_HOST=$DOCKER_HOST"
}

# Programs and libraries; documentation, compilers and local additions are not needed.
import() {
    tar -C / -c --exclude=usr/local --exclude=usr/share --exclude=usr/src --exclude=usr/include \
        --exclude=usr/lib/gcc --exclude=usr/lib/jvm --exclude='usr/lib/llvm*' \
        --exclude=usr/lib/google-cloud-sdk --exclude=usr/lib/debug \
        usr bin lib lib64 sbin | docker import - "$image" > /dev/null
}

case $action in
    start) start ;;
    stop) kill "$(cat "$dir/pid")" ;;
    *) echo "$usage" >&2; exit 2 ;;
esac
