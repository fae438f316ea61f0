#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# stftool --ideal and --faster: times that follow from the plan of waits.avt, also in the trace that is written. TAP.
# shellcheck disable=SC1091,SC2154
. "${top_srcdir:-.}/tests/cli/lib/toollib.sh"

waits=$dir/waits.stf
from_text "$src/tests/cli/stftool/waits.avt" "$waits" || exit 99
# what counts begins at 1 ms. Rank 0 works 5 ms and sends at 6; rank 1 works 0.999 and 0.98 ms after that and comes to
# the barrier at 7.979; after it both work 2.005 ms
tool "$waits" --ideal
is "--ideal" 0 <<'EOT'
with a network without delay, the run takes 0.008984 s between MPI_Init and MPI_Finalize instead of 0.01 s (-10.2 %)
EOT
# a message of 4 bytes takes 1.1 ms, and the barrier of two 0.1 ms
tool "$waits" --ideal=100us:4000
expect_status 0
expect_line '^with 0.0001 s for a message and 4000 bytes a second, the run takes 0.010184 s .* (+1.8 %)$' "$dir/out"
verdict "--ideal with a network"
# rank 1 then finds its first message at 2 ms, and takes 1 ms to receive it as before
tool "$waits" --faster 'solve it=100'
is "--faster" 0 <<'EOT'
with 100 % less time in solve it, the run takes 0.005999 s between MPI_Init and MPI_Finalize instead of 0.01 s (-40.0 %)
EOT
tool "$waits" --faster 'solve it=0%'
expect_status 0
expect_line 'the run takes 0.01 s between .* instead of 0.01 s (+0.0 %)$' "$dir/out"
verdict "--faster by nothing changes nothing"

tool "$waits" --ideal --logfile-name "$dir/ideal.stf"
expect_status 0
tool "$dir/ideal.stf" --verify
expect_status 0
tool "$dir/ideal.stf" --dump --matched-vtf
expect_line '^2000 ENTER CPU 2 FUNCTION 3$' "$dir/out"
expect_line '^6000 MESSAGE FROM 1 TO 2 TIME 0 ' "$dir/out"
expect_line '^6000 LEAVE CPU 2$' "$dir/out"
expect_line '^6089 COLLALL COMM 1 OP 1 START 2 0 1890 TIME 2 1890 0$' "$dir/out"
expect_line '^7979 LEAVE CPU 1$' "$dir/out"
expect_line '^9984 ENTER CPU 1 FUNCTION 5$' "$dir/out"
expect_line 'TEXT "this run did not happen: it is .* with a network without delay"$' "$dir/out"
expect_line 'TEXT "process 1 0 1e-06"$' "$dir/out"
verdict "the trace of the ideal run has its times"
# there the events that wait for each other have one stamp
tool "$dir/ideal.stf" --ideal
expect_line 'takes 0.008984 s .* instead of 0.008984 s (+0.0 %)$' "$dir/out"
tool "$dir/ideal.stf" --analyze
# to the end: 5 ms of rank 0, 1.979 of rank 1 after its message, 2.005 of rank 0 after the barrier
expect_line '^0:0 *"solve it" *- *0.005 ' "$dir/out"
expect_line '^0:1 *- *- *0.001979 ' "$dir/out"
verdict "an ideal run is its own ideal run, with the same critical path"
tool "$waits" --faster 'solve it=100' --logfile-name "$dir/fast.single.stf"
expect_status 0
tool "$dir/fast.single.stf" --analyze
expect_line '^efficiencies in 0.005999 s' "$dir/out"
verdict "the trace of a faster function, in one file"
tool "$dir/ideal.stf" --ideal --logfile-name "$dir/fast.single.stf"
expect_status 1
expect_line 'fast.single.stf.* exists' "$dir/err"
verdict "an existing trace stays"

refused "--faster without a number" 2 "--faster: 'main' is not FUNCTION=PERCENT, such as main=20" "$waits" --faster main
refused "--faster by more than all" 2 "--faster: 'main=101' is not" "$waits" --faster main=101
refused "--faster of no function" 1 "$waits: --faster: no function nosuch in this trace; " "$waits" --faster nosuch=10
refused "--ideal with half a network" 2 "--ideal: '1us' is not LATENCY:BANDWIDTH" "$waits" --ideal=1us
refused "--ideal with a wrong network" 2 "--ideal: " "$waits" --ideal=x:10GB
refused "both" 2 "--ideal and --faster exclude each other" "$waits" --ideal --faster 'solve it=1'
refused "a text" 2 "--ideal writes a trace" "$waits" --ideal --logfile-name "$dir/a.avt"
refused "no MPI" 1 "$dir/empty.stf: no thread called MPI, so there is nothing" "$dir/empty.stf" --ideal
TMPDIR=$dir/nosuch
export TMPDIR
refused "no place for temporary files" 1 ".*/nosuch/stftool-.*: cannot make a temporary file: No such file" \
	"$waits" --ideal --logfile-name "$dir/b.stf"
unset TMPDIR
tool "$rich" --ideal --logfile-name "$dir/rich.stf" --force
[ "$status" -le 1 ]
ok "a trace of every kind of record" $?
done_testing
