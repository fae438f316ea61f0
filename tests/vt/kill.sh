#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# SIGKILL at random moments of a job of four ranks, of one rank and of all: the raw files always make a sound trace of all
# that had begun. KILLS: how many of each (default 25); SEED: of the moments. TAP.
. "${top_srcdir:-.}/tests/vt/mpi_lib.sh"
kills=${KILLS:-25}
seed=${SEED:-20261121}
echo "# KILLS=$kills SEED=$seed"
mpi_compile "$MPICC" mpi_plain.c plain -pthread

moment() # the next one, in seconds: 0.05 to 2
{
	seed=$(((seed * 1103515245 + 12345) % 2147483648))
	awk -v s="$seed" 'BEGIN { printf "%.3f\n", 0.05 + s / 2147483648 * 1.95 }'
}

pids() # of the ranks that have begun
{
	find . -name 'VT-flush-*.dat' | sed -n 's/.*-\([0-9]*\)\.dat$/\1/p'
}

for who in one all; do
	i=0 wrong=0 empty=0
	while [ $i -lt "$kills" ]; do
		i=$((i + 1))
		clean
		rm -f saved.*
		# mpirun itself sometimes waits for ever for ranks that are all gone
		timeout -k 5 60 "$MPIRUN" -np 4 "$build/vtrun" -- ./plain wait 20 >out 2>&1 &
		launcher=$!
		sleep "$(moment)"
		if [ $who = one ]; then
			victims=$(pids | head -n 1)
		else
			victims=$(pids)
		fi
		# shellcheck disable=SC2086
		[ -z "$victims" ] || kill -9 $victims 2>/dev/null
		wait $launcher
		find . -name 'VT-flush-*.dat' >raws
		if [ ! -s raws ]; then
			empty=$((empty + 1)) # it had not begun, or had ended well
			continue
		fi
		# shellcheck disable=SC2046
		if ! timeout 60 "$build/stftool" $(cat raws) --merge saved.stf >>out 2>&1 ||
			! "$build/stftool" saved.stf --verify >>out 2>&1 ||
			[ "$("$build/xstftool" saved.stf 2>>out | sed -n 's/^NCPUS //p' | wc -w)" -ne "$(wc -l <raws)" ]; then
			wrong=$((wrong + 1))
			cp out "out.$who.$i"
		fi
	done
	echo "# $who: $i kills, $empty of them before or behind the recording, $wrong without a sound trace"
	[ $wrong -eq 0 ] && [ $empty -lt "$kills" ]
	ok "SIGKILL of $who of 4 ranks, $kills times" $?
done

done_testing
