"""Run as a program: makes a listening socket inside another network namespace and hands it back.

Joining the user namespace that owns a network namespace needs a process with one thread, so this is
a program of its own. It knows the standard library alone, is given two descriptors and a port, and
ends before anything runs in the sandbox.
"""

import ctypes
import fcntl
import os
import socket
import sys

_NS_GET_USERNS = 0xB701
_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000
_IP_FREEBIND = 15  # not among the constants of `socket`
_BACKLOG = 64


def _join(namespace: int, kind: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(namespace, kind) != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))


def main(network: int, channel: int, port: int) -> None:
    """Join the namespace, listen on its loopback, send the socket over the channel."""
    _join(fcntl.ioctl(network, _NS_GET_USERNS), _CLONE_NEWUSER)
    _join(network, _CLONE_NEWNET)
    with socket.socket(fileno=channel) as back, socket.socket() as listener:
        # The loopback may still be down: bubblewrap brings it up while this runs.
        listener.setsockopt(socket.IPPROTO_IP, _IP_FREEBIND, 1)
        listener.bind(("127.0.0.1", port))
        listener.listen(_BACKLOG)
        socket.send_fds(back, [b"x"], [listener.fileno()])


if __name__ == "__main__":
    main(*map(int, sys.argv[1:4]))
