#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints the status of one answer, which must come within 3 s, or what went wrong: ask.py ADDRESS."""
import sys
import urllib.error
import urllib.request

try:
    print(urllib.request.urlopen(sys.argv[1], timeout=3).status)
except (OSError, urllib.error.URLError) as e:
    print(e)
