#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What the processes of a job without MPI log by the clocks of the kernel gets the job's time, with a bound. Each host's
# clocks have an offset and a rate of their own, and one is set. HOSTS=16 makes more of them. TAP.
program=logs
. "${top_srcdir:-.}/tests/vt/nodes/lib.sh"
[ "$(uname -m)" = x86_64 ] || skip_all "logs.c reads the counter of an x86 CPU"
"${CC:-cc}" -O1 -fPIC -shared "$here/nodes/programs/shifted.c" -o shifted.so || exit 99

# held LOG: the stamps of the clock are where those of the counter beside them are, within what the clock adds to the
# bound
held()
{
	clkapply=$build/clkapply clk=f/result/logs.clk
	for column in before after; do
		"$clkapply" "$clk" "$1" --column $column >"$column.csv" || return 1
	done
	"$clkapply" "$clk" "$1" --timer "${1##*.}" >time.csv || return 1
	paste -d, before.csv time.csv after.csv | awk -F, -v what="${1##*/}" '
		NR == 1 { next }
		{
			n++
			early = $5 - $11; late = $11 - $17; add = $12 - $6; add = add > $12 - $18 ? $12 - $18 : add
			off = early > late ? early : late
			if (off > add + 2e-9) {
				bad++
			}
			bound[n] = add
		}
		END {
			m = 0
			for (i in bound) {
				small += bound[i] < 60e-6
				m = bound[i] > m ? bound[i] : m
			}
			printf "%s: %d stamps, %d outside of the bound, at most %.3g us, ", what, n, bad, m * 1e6
			printf "below 60 us for %d\n", small
			exit !(n > 3000 && bad == 0 && small > n / 2)
		}'
}

job clocks
hosts=${HOSTS:-3}
expect_line "Writing tracefile .* $hosts processes" f/said
for log in f/log.*; do
	expect held "$log" >held
	sed 's/^/# /' held
	cat held >>out
done
expect [ "$(ls f/log.* | wc -l)" -eq $((4 * hosts)) ]
sed '/^clock /d' f/result/logs.clk >without.clk
"$build/clkapply" without.clk f/log.0.clock_boottime --timer clock_boottime >none 2>&1
expect [ $? -eq 1 ]
expect_line 'no readings of clock_boottime on the node of rank 0' none
verdict "stamps of four clocks of $hosts hosts are inside of their bound; without readings they are refused"

# what is true of the log is true of a profile by the same clock
if [ "${PYTHON3:-no}" = no ] || ! grep -q '^#define HAVE_ZLIB 1' "$build/config.h"; then
	skip "profiles of PyTorch" "no Python 3, or built without zlib"
else
	py=$here/nodes/programs/kineto_logs.py
	"$build/clkapply" f/result/logs.clk f/log.0.clock_realtime --column before >first.csv
	for rank in $(seq 0 $((hosts - 1))); do
		log=f/log.$rank.clock_realtime
		"$PYTHON3" "$py" make "$log" "rank$rank.json" >>out 2>&1
		expect "$build/clkapply" f/result/logs.clk "rank$rank.json" --output "right$rank.json" >>out 2>&1
		"$build/clkapply" f/result/logs.clk "$log" --timer clock_realtime >time.csv
		expect "$PYTHON3" "$py" compare "$log" time.csv "right$rank.json" f/result/logs.clk >same 2>&1
		expect "$PYTHON3" "$py" truth first.csv "$log" "right$rank.json" f/result/logs.clk >>same 2>&1
		sed 's/^/# /' same
		cat same >>out
	done
	verdict "profiles of PyTorch by the time of day of $hosts hosts are corrected like the logs, and true"
fi

# a process that becomes one program after the other has several raw files, of which one has the readings of its time
export VT_FORCE=on
printf '#!/usr/bin/env bash\nexec ./second\n' >first
printf '#!/usr/bin/env bash\nfiles=$(ls)\nexec env sleep 3\n' >second
chmod +x first second
word=$("$vtrun" --contact --join-wait=20s 2>out) || exit 99
for rank in 0 1; do
	RANK=$rank WORLD_SIZE=2 "$vtrun" --join "$word" -- ./first >>out 2>&1 &
done
sleep 2.5
printf 'time\n%s\n' "$(date +%s%N)" >now
wait
i=0
until [ -s first.clk ] || [ $i -gt 300 ]; do
	i=$((i + 1))
	sleep 0.1
done
for rank in 0 1; do
	"$build/clkapply" first.clk now --timer clock_realtime --rank $rank >then 2>>out
	cat then >>out
	expect awk -F, 'NR == 2 { n = 1; bad = !($3 < 1e-3) } END { exit !n || bad }' then
done
verdict "a program that scripts become, one after the other, has readings of its clocks to the end"
done_testing
