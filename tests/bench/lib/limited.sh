#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A bench with a time limit of its own: BENCH_LIMIT seconds, 900 if it is unset. If it does not end in time, or fails,
# a row says that NAME was not measured, and why: name, "not measured", reason, tab separated. The status is then 1.
# usage: limited.sh NAME COMMAND...
set -u
name=${1:?usage: limited.sh NAME COMMAND...}
shift
limit=${BENCH_LIMIT:-900}
timeout -k 10 "$limit" "$@"
status=$?
case $status in
0) exit 0 ;;
124 | 137) why="it did not end in $limit s" ;;
*) why="it ended with status $status" ;;
esac
printf '%s\tnot measured\t%s\n' "$name" "$why"
exit 1
