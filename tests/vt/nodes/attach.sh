#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# VT_attach of processes on other hosts, whose clocks are shifted: their messages are in the trace, none before it was
# sent. TAP.
program=attach
. "${top_srcdir:-.}/tests/vt/nodes/lib.sh"

job attach
expect_trace f/result/attach.stf
expect [ "$(cat f/status.0)" -eq 0 ]
"$build/stftool" f/result/attach.stf --matched-vtf --dump 2>>out >dump
awk '$2 == "MESSAGE" { print $4, $6, $14 }' dump | sort | uniq -c | sed 's/^ *//' >messages
cat messages >>out
# ranks from 1: 20 questions of each child, and as many answers
expect_text '20 1 2 8
20 1 3 8
20 2 1 8
20 3 1 8' messages
verdict "children on two other hosts: each message once, in order within the bounds"
done_testing
