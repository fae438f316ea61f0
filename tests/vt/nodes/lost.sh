#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Processes, node processes and networks that are lost: one trace of what lived, and the lost are named. TAP.
. "${top_srcdir:-.}/tests/vt/nodes/lib.sh"

job killed
expect_trace f/result/steps.stf
expect_line 'Writing tracefile .* 3 processes' f/said
inside
verdict "a process that is killed is in the trace as far as it came"

job node_process
expect_trace f/result/steps.stf
expect_line 'node node2 is not in the trace: its node process has ended.* Its ranks: [0-2]\.' f/said
expect_line 'Writing tracefile .* 2 processes' f/said
verdict "a node process that is killed is named, and the others go on"

job cut
expect_trace f/result/steps.stf
expect_line 'node node2 is not in the trace: nothing was heard of it for 15 s' f/said
expect_line 'Writing tracefile .* 2 processes' f/said
expect_line 'steps-node2.stf' f/left.2
verdict "a node whose network is cut is named, and makes a trace of its own"

job pause
expect_trace f/result/steps.stf
expect_line '2 of 2 nodes' f/said
expect_line 'Writing tracefile .* 2 processes' f/said
verdict "five seconds without network change nothing"
done_testing
