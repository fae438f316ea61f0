#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Programs of OpenSHMEM, compared with what they know of themselves: the table of calls, every put, get and atomic,
# collective operations on active sets, corrected clocks, and all ways in which such a program ends. TAP.
# shellcheck source=../lib/mpi_lib.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/vt/lib/mpi_lib.sh"
oshcc=$(echo "$MPICC" | sed 's/mpicc\([^/]*\)$/oshcc\1/')
oshrun=$(echo "$MPIRUN" | sed 's/mpirun\([^/]*\)$/oshrun\1/')
# Debian's mpicc.openmpi has oshcc beside it
command -v "$oshcc" >/dev/null 2>&1 || oshcc=${oshcc%.openmpi} oshrun=${oshrun%.openmpi}
for program in "$oshcc" "$oshrun"; do
	command -v "$program" >/dev/null 2>&1 || skip_all "there is no $program: this MPI comes without OpenSHMEM"
done
[ -z "$san" ] || skip_all "UCX has hooks of its own in malloc and free"
case $(uname -m) in
x86_64 | aarch64) ;;
*) skip_all "calls of OpenSHMEM are not recorded on this kind of machine" ;;
esac
MPIRUN=$oshrun VT_COUNTER='** off'
# Open MPI 4.1.4 leaves a hook of its transport openib behind, and shmem_finalize() then dies, without us too
OMPI_MCA_btl=^openib
export VT_COUNTER OMPI_MCA_btl

"${CC:-gcc}" -I"$src" -DSTAND_IN -shared -fPIC -o libteams.so "$here/shmem/programs/teams.c" >out 2>&1 ||
	not_met "teams.c compiles as a library" out
mpi_compile "$oshcc" shmem/programs/teams.c teams -L. -lteams -Wl,-rpath,"$dir" || not_met "teams.c compiles" out
for program in table random sets ends; do
	mpi_compile "$oshcc" shmem/programs/$program.c $program -lpthread || not_met "$program.c compiles" out
done
verdict "the programs compile, so the table of calls declares each as the headers do"

./table | sort >wrapped
sed -n '/^#/!s/	.*//p' "$src/collector-plugin/shmem/not_wrapped.list" | sort >not_wrapped
library=$(ldd ./table | sed -n 's|.*=> \(/.*/liboshmem[^/]*\) .*|\1|p')
nm -D --defined-only "$library" | awk '$2 ~ /^[TW]$/ { sub(/@.*/, "", $3); print $3 }' |
	grep -E '^(_?shmemx?|sh[mfr]|start_pes|globalexit|_?my_pe|_?num_pes)' | sort >exported
sort wrapped not_wrapped | uniq -d >both
sort wrapped not_wrapped | comm -13 - exported >differ
comm -23 wrapped exported >>differ
cat both differ >>out
expect [ "$(wc -l <wrapped)" -gt 900 ]
expect_empty both
expect_empty differ
expect [ -z "$(uniq -d wrapped)" ]
expect_no_line -E '^[^#	]*	.{0,9}$' "$src/collector-plugin/shmem/not_wrapped.list"
verdict "the table has all functions that $library exports, and no other"

# UCX of Debian sid aborts in an atomic call over shared memory, without us too
aborts=
timeout 60 "$MPIRUN" -np 4 ./random 2 1 >out 2>&1 || ! grep -q 'Assertion.*incorrect opcode' out ||
	aborts="UCX aborts in atomic calls, without Tickmark too: incorrect opcode"
for seed in 1 2 3; do
	if [ -n "$aborts" ]; then
		skip "every put, get and atomic, seed $seed" "$aborts"
		continue
	fi
	rm -f truth.*
	expect run 4 ./random 2 $seed
	sort truth.* >want
	expect "$build/stftool" random.stf --dump >dump
	awk -v ranks=1 -f "$here/lib/io.awk" dump | sort >have
	expect [ "$(wc -l <want)" -gt 7000 ]
	expect_same want have
	expect "$build/stftool" random.stf --verify >>out 2>&1
	verdict "every put, get and atomic with its bytes and its PE, seed $seed: $(wc -l <want) transfers of 4 PEs"
done

operations() # operations DUMP: "operation set root sent received" of each PE's part
{
	awk '$1 == "DEFCOLLOP" { gsub(/"/, ""); name[$2] = $3 }
		$1 == "DEFCOMM" { split($0, part, "\""); set[$2] = part[2] }
		$2 == "GLOBALOP" {
			v["ROOT"] = ""
			v["SENT"] = v["RECVD"] = 0
			for (i = 3; i < NF; i++) { v[$i] = $(i + 1) }
			if (name[v["OP"]] ~ /^shmem_/) {
				root = v["ROOT"] == "" ? "" : " root " v["ROOT"] - 1
				print name[v["OP"]], set[v["COMM"]] root, v["SENT"], v["RECVD"]
			}
		}' "$1" | sort
}

calls() # calls DUMP: how often each function was called
{
	awk '$1 == "DEFFUNCTION" { gsub(/"/, ""); name[$2] = $3 }
		$2 == "ENTER" { n[name[$6]]++ }
		END { for (f in n) { print f, n[f] } }' "$1" | sort
}

for seed in 1 2 3; do
	rm -f truth.* calls.*
	expect run 4 ./sets 40 $seed
	expect one_trace sets 4
	expect "$build/stftool" sets.stf --dump >dump
	sort truth.* >want
	operations dump >have
	expect [ "$(wc -l <want)" -gt 200 ]
	expect_same want have
	expect_no_line -E '^INFO .*(lack members|different functions)' dump
	verdict "collective operations of active sets, seed $seed: $(wc -l <want) parts"
	awk '{ n[$1] += $2 } END { for (f in n) { print f, n[f] } }' calls.* | sort >want
	calls dump >have
	expect_same want have
	class=$(sed -n 's/^DEFCLASS \([0-9]*\) "SHMEM" .*/\1/p' dump)
	expect_lines "$(grep -c '^shmem_' want)" "^DEFFUNCTION [0-9]* \"shmem_.* CLASS $class\$" dump
	verdict "each call is a function of class SHMEM, so often as the program calls it, seed $seed"
done

rm -f truth.*
expect run 4 ./teams
expect "$build/stftool" teams.stf --dump >dump
sort truth.* >want
operations dump >have
awk -v ranks=1 -f "$here/lib/io.awk" dump | grep ctx_long_p >>have
sort -o have have
expect [ "$(wc -l <want)" -gt 70 ]
expect_same want have
verdict "teams: collective operations, and puts through the contexts of teams"

rm -f truth.* calls.*
VT_SYNCED_HOST=off VT_TIMER='sim:base=CPU,offset={rank}ms,drift={rank}0ppm,tick=3ns' expect run 4 ./sets 40 1
expect one_trace sets 4
expect "$build/tests/ci/lib/clk_truth" sets.clk >truths 2>&1
cat truths >>out
expect_lines 3 ' us off' truths
"$build/stftool" sets.stf --dump >dump 2>>out
# nobody leaves a barrier before the last has come; a clock that is not corrected would be 1 ms or more away
awk '$2 == "GLOBALOP" {
		for (i = 3; i < NF; i++) { v[$i] = $(i + 1) }
		p = v["PAIR"]
		end = $1 + v["TIME"]
		if (v["KIND"] != "ALL") { next }
		if (!n[p]++ || $1 + 0 > last[p]) { last[p] = $1 + 0 }
		if (n[p] == 1 || end < first[p]) { first[p] = end }
	}
	END {
		for (p in n) {
			all++
			if (first[p] < last[p] - 2000) { print p, last[p] - first[p] " ns too early"; bad++ }
		}
		print all " barriers, left too early: " bad + 0
		exit bad || all < 40
	}' dump >>out
expect [ $? -eq 0 ]
verdict "clocks that are ms apart are corrected: within their bounds, and each barrier is left after all have come"

# one PE, without oshrun, of a program that is linked with nothing else of Open MPI
expect mpi_compile "$oshcc" shmem/programs/random.c alone -Wl,--as-needed
if [ -n "$aborts" ]; then
	skip "a program that is linked with liboshmem only, and started alone" "$aborts"
else
	rm -f truth.*
	clean
	expect timeout 100 "$vtrun" -- ./alone 1 1 >out 2>&1
	sort truth.* >want
	expect "$build/stftool" alone.stf --dump >dump
	awk -v ranks=1 -f "$here/lib/io.awk" dump | sort >have
	expect [ "$(wc -l <want)" -gt 800 ]
	expect_same want have
	verdict "a program that is linked with liboshmem only, and started alone"
fi

VT_ACTIVITY='SHMEM OFF' expect run 4 ./sets 5 1
expect "$build/stftool" sets.stf --dump >dump
calls dump >have
expect_text 'MPI_Barrier 4' have
expect_no_line ' IOBEGIN ' dump
verdict "ACTIVITY SHMEM OFF"

for how in exit:0 handler:0 both:0 status:3 one:3 late:0 global:4 abort:134; do
	run 2 ./ends "${how%:*}"
	expect_status "${how#*:}"
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		[ ! -e ends.stf ] || break
		sleep 0.5
	done
	expect "$build/stftool" ends.stf --verify >>out 2>&1
	expect "$build/stftool" ends.stf --dump >dump
	calls dump >have
	case ${how%:*} in
	both) want='4' ;;
	global | abort) want='[34]' ;; # PE 0 may not come to its second any more
	one) want='[23]' ;; # shmem_finalize of PE 0 may count as one
	*) want='2' ;;
	esac
	expect_line "^shmem_barrier_all $want\$" have
	expect_line '^shmem_my_pe 2$' have
	case ${how%:*} in
	exit | handler | both)
		expect_line '^shmem_finalize 2$' have
		expect_no_line ' Tickmark WARNING' out
		expect [ -s ends.clk ]
		;;
	esac
	verdict "a program that ends by ${how%:*}: status ${how#*:}, and a trace of both PEs"
done

# as the guide does it
clean
expect timeout 100 "$oshrun" -n 2 env LD_PRELOAD="$lib/libVT.so:libmpi.so" ./ends both >out 2>&1
expect "$build/stftool" ends.stf --dump >dump
calls dump >have
expect_line '^shmem_barrier_all 4$' have
expect_line '^MPI_Init 2$' have
expect_line '^shmem_finalize 2$' have
verdict "the guide's LD_PRELOAD=libVT.so:libmpi.so oshrun"

clean
expect timeout 100 "$oshrun" -n 2 "$build/vtrun" --check-mpi -- ./ends late >out 2>&1
expect_lines 1 'Tickmark INFO: the program used MPI and did not call MPI_Init: nothing was checked' out
verdict "libVTmc says that it has checked nothing"
done_testing
