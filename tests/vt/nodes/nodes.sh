#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Who joins a job by its contact word gets a rank, and is in one trace on one time. TAP.
. "${top_srcdir:-.}/tests/vt/nodes/lib.sh"

job arrival
expect_trace f/result/steps.stf
expect_line 'Writing tracefile .*/steps.stf: .* 4 processes' f/said
expect_line '3 of 3 nodes and 4 processes that joined' f/said
inside
expect_empty f/left.1
expect_empty f/left.2
verdict "ranks by the order of arrival: one trace of three hosts, and no raw file is left"

job ranks
expect_trace f/result/steps.stf
expect_line 'another process of this job has rank 1' f/out.1
expect_line '3 of 3 nodes and 3 processes' f/said
verdict "ranks by --rank and by variables; a rank that is taken is refused, and the program runs"

job missing
expect_trace f/result/steps.stf
expect_line '2 of 3 processes have joined' f/said
verdict "a rank that never comes is waited for as long as --join-wait says"
done_testing
