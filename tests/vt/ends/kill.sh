#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# SIGKILL at random moments of a job of four ranks, of one rank and of all: the sampler process always makes a sound
# trace of all that had begun. KILLS: how many of each (default 25); SEED: of the moments. TAP.
. "${top_srcdir:-.}/tests/vt/lib/mpi_lib.sh"
kills=${KILLS:-25}
seed=${SEED:-20261121}
echo "# KILLS=$kills SEED=$seed"
mpi_compile "$MPICC" mpi/programs/mpi_plain.c plain -pthread
mpi_compile "$MPICC" ends/programs/abrupt.c abrupt

moment() # the next one, in seconds: 0.05 to 2
{
	seed=$(((seed * 1103515245 + 12345) % 2147483648))
	awk -v s="$seed" 'BEGIN { printf "%.3f\n", 0.05 + s / 2147483648 * 1.95 }'
}

pids() # of the ranks that have begun
{
	find . -name '.VT-flush-*.raw' | sed -n 's/.*-\([0-9]*\)\.raw$/\1/p'
}

for who in one all; do
	i=0 wrong=0 empty=0
	while [ $i -lt "$kills" ]; do
		i=$((i + 1))
		clean
		rm -f saved.*
		# mpirun itself sometimes waits for ever for ranks that are all gone
		timeout -k 5 60 "$MPIRUN" -np 4 "$vtrun" -- ./plain wait 20 >out 2>&1 &
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
		# the sampler process makes the trace of what had begun
		wait_for 60 no_raw_files
		if [ ! -e plain.stf ] && ! ls .VT-flush-*.raw >/dev/null 2>&1; then
			empty=$((empty + 1)) # it had not begun
			continue
		fi
		if ls .VT-flush-*.raw >>out 2>&1 || ! "$build/stftool" plain.stf --verify >>out 2>&1; then
			wrong=$((wrong + 1))
			cp out "out.$who.$i"
		fi
	done
	echo "# $who: $i kills, $empty of them before or after the recording, $wrong without a sound trace"
	expect [ $wrong -eq 0 ]
	expect [ $empty -lt "$kills" ]
	verdict "SIGKILL of $who of 4 ranks, $kills times"
done

# a thread inside each rank samples: the sampler process waits for their ends
for how in kill abort exit; do
	clean
	timeout -k 5 60 "$MPIRUN" -np 2 "$vtrun" --sampler thread -- ./abrupt $how >out 2>&1
	wait_for 60 no_raw_files
	expect [ -z "$(find . -name '.VT-flush-*.raw')" ]
	expect_no_line 'no trace' out
	expect "$build/stftool" abrupt.stf --verify >>out 2>&1
	expect_line '^INFO ENDED' abrupt.prot
	verdict "a thread inside samples: $how of one of 2 ranks"
done

# ---- all raw files are closed, and all are killed before one orders the trace ----

clean
mpi_compile "$MPICC" ends/programs/killed_late.c killed_late
timeout -k 5 60 "$MPIRUN" -np 2 "$vtrun" -- ./killed_late >out 2>&1
sleep 1
expect [ ! -e killed_late.stf ]
# the number of the sampler process is that of another one now
sed -i 's/^INFO SAMPLED by process .*/INFO SAMPLED by process 1/' killed_late.prot
for reader in "stftool killed_late.stf --verify" "vtreport killed_late.stf" vtreport; do
	# shellcheck disable=SC2086
	expect_not timeout 20 "$build/"$reader >said 2>&1
	expect_line 'killed_late.stf is not there, .* is in .*: stftool killed_late.prot --merge' said
done
"$vtrun" -- true >said 2>&1
expect_line 'an earlier run left raw files; stftool .*/killed_late.prot --merge FILE.stf makes its trace$' said
expect_no_line 'further runs' said
# the next run of the same name has replaced the protocol
mv killed_late.prot own.prot
"$vtrun" -- true >said 2>&1
expect_line 'stftool\( [^ ]*killed_late_[01]-[0-9]*.raw\)\{2\} --merge FILE.stf makes its trace$' said
mv own.prot killed_late.prot
timeout -k 5 60 "$MPIRUN" -np 2 "$vtrun" -- ./plain wait 1 >said 2>&1
expect_line 'an earlier run left raw files; stftool' said
expect "$build/stftool" killed_late.prot --merge killed_late.stf --delete-raw-data >>out 2>&1
expect_line 'of 2 processes' out
verdict "all are killed when the raw files are closed: the readers and the next runs name the command"

# the user merges these
clean
"$vtrun" --keep-raw-events -- true >said 2>&1
"$vtrun" -- false >said 2>&1
expect_no_line 'an earlier run' said
verdict "but no word of raw files that the user keeps"

done_testing
