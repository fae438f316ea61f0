#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# VTserver with many node processes of an MPI job, each with many ranks. TAP.
# shellcheck source=../lib/lib.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/vt/lib/lib.sh"
nodes=$build/tests/bench/collector/bench_nodes
cd "$dir" || exit 99

# Each node takes a descriptor. Who starts programs often allows 1024.
(ulimit -Sn 64 && exec timeout 100 "$nodes" "$build/VTserver" 80 200 1) >out 2>&1
! grep -q 'built without libzmq' out || skip_all "built without libzmq"
expect_lines 1 '^nodes.80.verdict' out
expect_lines 1 '^nodes.80.end' out
verdict "more nodes than descriptors that were allowed at first"
done_testing
