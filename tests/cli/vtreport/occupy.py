#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Takes 64 connections of a server, says so, and takes each again when it was closed, for a minute: occupy.py ADDRESS."""
import signal
import socket
import sys
import urllib.parse

signal.alarm(60)

address = urllib.parse.urlsplit(sys.argv[1])


def connect():
    try:
        s = socket.create_connection((address.hostname, address.port), timeout=1)
    except OSError:
        return None
    s.setblocking(False)
    return s


def is_open(s):
    try:
        return s is not None and s.recv(1) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False


held = [connect() for _ in range(64)]
print("taken", flush=True)
while True:
    held = [s if is_open(s) else connect() for s in held]
