#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# timertest without MPI: --hosts and --join, on hosts that share nothing but a network and whose monotonic clocks are
# 1000 s apart. TAP.
# shellcheck source=../../lib/tap.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/lib/tap.sh"
timertest=$build/timertestcs
XDG_STATE_HOME=$dir/state
export XDG_STATE_HOME

# ---- what is wrong before anybody is asked ----

refused() # refused TEXT WORD...: status 2 and that text
{
	text=$1
	shift
	timeout 60 "$timertest" "$@" >"$dir/out" 2>"$dir/err" </dev/null
	expect [ $? -eq 2 ]
	expect_line "$text" "$dir/err"
}

key=$(printf '%064d' 0)
refused 'which? --hosts starts the others' --hosts a --join "h:1:$key"
refused "names no other node than this one" --hosts "localhost,$(hostname)"
refused "'a,,b' is no list of host names" --hosts a,,b
refused "'-oProxyCommand=x' is no list of host names" --hosts=-oProxyCommand=x
refused 'have an effect only with --join' --rank 0
refused 'have an effect only with --join' --hosts a --size 2
refused 'have an effect only with --hosts' --rsh rsh
refused '[-]-interface has an effect only with' --interface lo
refused 'interface nope has no address' --join "localhost:1:$key" --size 2 --interface nope
refused 'no contact word on standard input' --join - --size 2
refused 'how many processes are there? --size=N' --join "localhost:1:$key"
refused 'rank.* which one' --join "localhost:1:$key" --rank 2 --size 2
refused 'was the word cut?' --join localhost:1:00ff --size 2
refused 'no connection (tried localhost port 1: Connection refused)' --join "localhost:1:$key" --size 2
refused 'the process on nowhere did not start: status 1' --hosts nowhere --rsh false
verdict "what is wrong with the command line is printed, with status 2"

# what is started often, or loaded into programs of others, does not load what speaks over the network
for program in "$build/timertest" "$timertest" "$build/vtrun" "$build"/.libs/libVT*.so; do
	[ ! -e "$program" ] || ldd "$program"
done >"$dir/out" 2>"$dir/err"
expect_line 'libc\.so' "$dir/out"
expect_no_line 'libzmq' "$dir/out"
ldd "$build/timertest-tcp" >"$dir/out" 2>"$dir/err"
expect_line 'libzmq\|libtimertest' "$dir/out"
verdict "only the program behind --hosts and --join loads ZeroMQ"

why=$(sh "$src/tests/mpi/netns.sh" -- true 2>&1)
if [ $? -eq 77 ]; then
	skip "hosts" "$why"
	done_testing
	exit
fi

on_hosts() # on_hosts CASE [HOSTS]
{
	rm -rf "$dir/f"
	mkdir "$dir/f"
	timeout 200 sh "$src/tests/mpi/netns.sh" -n "${2:-3}" -o 1000 -- \
		sh "$src/tests/cli/timertest/on_hosts.sh" "$1" \
		"$timertest" "$build/vtrun" "$dir/f" >"$dir/out" 2>&1
	expect [ $? -eq 0 ]
	cat "$dir"/f/out.* "$dir"/f/err.* >"$dir/err" 2>/dev/null
}

# fit_on_hosts CASE: again where other programs took the processors, since then the clocks are not known to be fit
fit_on_hosts()
{
	for _ in 1 2 3 4 5; do
		on_hosts "$1"
		! grep -q '^verdict: clock_monotonic is fit ' "$dir/f/out.0" || break
		grep '^verdict: ' "$dir/f/out.0" | cut -c 1-150 | sed 's/^/# /'
	done
}

# the clocks count on from one moment, 1000 s apart; the words between are the bound
apart() # apart FILE: number of ranks whose offset before correction is known and true
{
	awk '/^clock of rank [0-9]* .* before correction: / { rank = $4; off = $8; bound = $NF
		sub(/s$/, "", off) || off = 0
		in_s = bound ~ /ns$/ ? 1e-9 : bound ~ /us$/ ? 1e-6 : bound ~ /ms$/ ? 1e-3 : 1
		bound = (bound + 0) * in_s + 1e-6
		d = off - 1000 * rank; d = d < 0 ? -d : d
		if (d <= bound && bound < 0.01) { n++ } else { printf "# rank %d: %s, bound %s\n", rank, off, bound } }
	END { print n + 0 }' "$1"
}

fit_on_hosts hosts
expect_line '^verdict: clock_monotonic is fit for tracing on 3 ranks: ' "$dir/f/out.0"
expect_line '^clock map of rank 2: ' "$dir/f/out.0"
expect_line '(node2)' "$dir/f/out.0"
expect_lines 0 'rank 3' "$dir/f/out.0"
expect [ "$(apart "$dir/f/out.0")" = 2 ]
expect [ -s "$dir/f/hosts.stf" ]
expect_trace "$dir/f/hosts.stf"
verdict "--hosts: the clocks of three hosts, and the offset of each within its bound"
expect [ -s "$dir/f/arguments" ]
expect_lines 0 '[0-9a-f]\{64\}' "$dir/f/arguments"
verdict "the contact word is in the arguments of no process"

on_hosts screen 6
expect [ "$(wc -l <"$dir/f/out.0")" -le 20 ]
expect_line '^timer clock_monotonic, 6 ranks on 6 nodes, 3 s, ' "$dir/f/out.0"
expect_line '^offset before correction: at most [0-9.]*s +- .*s (node5, rank 5)$' "$dir/f/out.0"
expect_line '^clocks of the processing units of a node: together on 6 nodes$' "$dir/f/out.0"
expect_line '^verdict: clock_monotonic is ' "$dir/f/out.0"
expect [ "$(apart "$dir/f/screen.txt")" = 5 ]
expect awk '$1 ~ /^node[0-5]$/ && $2 == 1 { n++; off = $3 + 0 - 1000 * substr($1, 5)
	if ($1 != "node0" && (off > 0.01 || off < -0.01)) { exit 1 } } END { exit n != 6 }' "$dir/f/screen.txt"
verdict "six hosts: one screen that names the one farthest off, and a line for each in the file"

on_hosts itc
expect_line '^verdict: clock_monotonic is ' "$dir/f/out.0"
expect [ "$(apart "$dir/f/out.0")" = 2 ]
verdict "--hosts with --sync itc: the round robin of the guide finds the same offsets"

fit_on_hosts slurm
expect_line '^0 0 0 $' "$dir/f/statuses"
expect_line '^verdict: clock_monotonic is fit for tracing on 3 ranks: ' "$dir/f/out.0"
expect_line '(node2)' "$dir/f/out.0"
expect [ "$(apart "$dir/f/out.0")" = 2 ]
expect_empty "$dir/f/out.1"
expect_empty "$dir/f/out.2"
for rank in 0 1 2; do
	expect [ -n "$(ls "$dir/f/$rank/state" 2>/dev/null)" ]
done
verdict "--join: ranks by the launcher, one output, a result on each node"
expect_line '^2 $' "$dir/f/statuses"
expect_line 'no connection (tried .*: Connection refused)' "$dir/f/err.3"
verdict "the word of a test that is over reaches nobody"

fit_on_hosts late
expect_line '^0 0 0 $' "$dir/f/statuses"
verdict "--join-wait counts from the last process that came"

on_hosts missing
expect_line '^2 2 2 $' "$dir/f/statuses"
expect_line '2 of 3 processes came, and no other one within 2 s' "$dir/f/err.0"
cat "$dir/f/err.1" "$dir/f/err.2" >"$dir/diff"
expect_line 'another process has rank 2' "$dir/diff"
expect_line '2 of 3 processes came' "$dir/diff"
expect_empty "$dir/f/out.0"
expect [ -z "$(ls "$dir"/f/*.stf 2>/dev/null)" ]
verdict "a process that does not come, and a rank that is taken, end the test with the reason"

on_hosts killed
expect_line '^2 $' "$dir/f/statuses"
expect_line 'rank [01]: the connection with the process of rank 2 has ended' "$dir/f/err.0"
expect [ "$(cat "$dir/f/lasted")" -le 30 ]
expect [ -z "$(ls "$dir"/f/*.stf 2>/dev/null)" ]
verdict "a process that is killed ends the test, and is named"
done_testing
