#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Messages, collective operations and communicators of MPI programs, compared with what the programs know:
# mpi_messages.c makes random communication whose messages all have other lengths, mpi_calls.F90 what is listed below.
# TAP.
# shellcheck source=../lib/mpi_lib.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/vt/lib/mpi_lib.sh"
VT_COUNTER='** off'
export VT_COUNTER

operations() # operations TRACE: how many
{
	"$build/stftool" "$1" --matched-vtf --dump 2>>out |
		grep -cE ' (COLLALL|COLLALLTOALL|COLLALLTOONE|COLLONETOALL) '
}

mpi_compile "$MPICC" mpi/programs/mpi_messages.c messages
for seed in 1 2 3; do
	rm -f truth.*
	expect run 4 ./messages 40 $seed
	expect same_messages messages.stf 500
	expect [ "$(operations messages.stf)" -eq "$(sed -n 's/^operations //p' truth.0)" ]
	verdict "random communication of 4 ranks, seed $seed: no message wrong, none unmatched"
done
# With arguments: so many ranks, rounds, bytes, threads, messages at least and maybe a seed, and nothing else
# (tests/ci/series/messages.sh).
if [ -n "${MESSAGES:-}" ]; then
	# shellcheck disable=SC2086
	set -- $MESSAGES
	rm -f truth.*
	LIMIT=3000 VT_FLUSH_LIMIT=30GB expect run "$1" ./messages "$2" "${6:-7}" "$3" "$4"
	expect same_messages messages.stf "$5"
	verdict "random communication: $1 ranks, $2 rounds, $4 threads more, $(wc -l <want) messages"
	done_testing
	exit
fi
n=$(wc -l <want)
# what the communicators are called, section 2.1.5 of the guide, and who is in them
sed -n 's/^DEFCOMM [0-9]* //p' dump | grep -vE 'COMM_SELF' | LC_ALL=C sort >have
cat >want <<'END'
"COMM_WORLD" LEFT 0 FIRST 1 1 LAST 1 4 STRIDE 1 1
"DUP COMM_WORLD" LEFT 0 FIRST 1 1 LAST 1 4 STRIDE 1 1
"SPLIT COMM_WORLD" LEFT 0 FIRST 1 1 LAST 1 3 STRIDE 1 2
"SPLIT COMM_WORLD" LEFT 0 FIRST 1 2 LAST 1 4 STRIDE 1 2
"SPLIT COMM_WORLD" LEFT 0 FIRST 4 4 3 2 1 LAST 4 4 3 2 1 STRIDE 4 1 1 1 1
"SPLIT DUP COMM_WORLD" LEFT 0 FIRST 3 2 1 3 LAST 3 2 4 3 STRIDE 3 1 3 1
"between" LEFT 2 FIRST 2 1 2 LAST 2 3 4 STRIDE 2 2 2
"halves" LEFT 0 FIRST 1 1 LAST 1 2 STRIDE 1 1
"halves" LEFT 0 FIRST 1 3 LAST 1 4 STRIDE 1 1
END
cmp want have >>out 2>&1
ok "communicators have one number each, the guide's names, and their members" $?
expect "$build/stftool" messages.stf --convert text.avt --matched-vtf >>out 2>&1
expect "$build/tests/cli/lib/text_stf" text.avt again.stf >>out 2>&1
expect "$build/stftool" messages.stf --dump --matched-vtf >first 2>>out
expect "$build/stftool" again.stf --dump --matched-vtf >second 2>>out
expect grep -v '^C ' first >dump
expect [ "$(wc -l <dump)" -gt "$n" ]
grep -v '^C ' second | expect diff dump - >>out
verdict "to ASCII and back keeps all of it"
# other programs read the same trace
if [ -n "$(sed -n 's/^#define HAVE_OTF2 1/1/p' "$build/config.h")" ] && command -v otf2-print >/dev/null 2>&1; then
	"$build/stftool" messages.stf --convert other.otf2 >>out 2>&1 &&
		otf2-print other.otf2/traces.otf2 >print 2>warnings
	rc=$?
	cat warnings >>out
	expect [ $rc -eq 0 ]
	expect_empty warnings
	expect_lines "$n" '^MPI_SEND ' print
	expect_lines "$n" '^MPI_RECV ' print
	verdict "otf2-print reads all messages and has no warning"
else
	skip "otf2-print reads all messages and has no warning" "this build has no OTF2, or there is no otf2-print here"
fi
if command -v vite >/dev/null 2>&1; then
	from=-f
	QT_QPA_PLATFORM=offscreen vite -h >drawn 2>&1
	! grep -q -e '-i inputfile' drawn || from=-i # Debian 13
	"$build/stftool" messages.stf --convert other.paje >>out 2>&1 &&
		QT_QPA_PLATFORM=offscreen XDG_RUNTIME_DIR=$dir timeout 100 vite $from other.paje -e other.svg \
			>drawn 2>&1
	rc=$?
	cat drawn >>out
	expect [ $rc -eq 0 ]
	expect_line '0 errors and 0 warnings' drawn
	expect [ -s other.svg ]
	verdict "ViTE draws it from Paje and has no warning"
else
	skip "ViTE draws it from Paje and has no warning" "no vite here"
fi

rm -f truth.*
expect run 4 ./messages 100 5 400 2
expect same_messages messages.stf 1000
verdict "with two threads more in each rank, on communicators of their own"

# What the program logs itself: three messages each way, one to itself, two that overlap; operations of both ranks.
cat >want <<'END'
0 0 1 6 COMM_SELF_#0
0 1 100 5 COMM_WORLD
0 1 101 5 COMM_WORLD
0 1 102 5 COMM_WORLD
0 1 200 7 COMM_WORLD
1 0 110 5 COMM_WORLD
1 0 111 5 COMM_WORLD
1 0 112 5 COMM_WORLD
1 0 201 7 COMM_WORLD
1 1 1 6 COMM_SELF_#1
END
expect mpi_compile "$MPICC" mpi/programs/mpi_log.c log -lVT
expect run 2 ./log
expect_empty output
expect messages log.stf >have
expect_same want have
expect "$build/stftool" log.stf --matched-vtf --dump >dump
expect_lines 7 ' MESSAGE .* SSCL 1 RSCL 0$' dump
expect_line ' MESSAGE FROM 2 TO 1 .* LEN 201 .* SSCL 0 RSCL 1$' dump
expect_line ' COLLONETOALL ROOT 2 ROOTLEN 30 .* RECVD 2 31 31 SCL 2 1 1$' dump
expect_lines 2 ' MESSAGE .* LEN 1 .* SSCL 0 RSCL 1$' dump
grep ' SCL 1$' dump | expect_not grep -E ' (ENTER|LEAVE) ' >>out
expect_line ' COLLALLTOALL .* SENT 2 40 0 RECVD 2 0 40$' dump
expect [ "$(operations log.stf)" -eq 4 ]
verdict "VT_log_sendmsg() and the like: messages, operations, the location of VT_thisloc(), wrong arguments"

# Only some calls: messages or operations, and no call of another kind.
kinds() # kinds TRACE: messages, operations, calls of Bcast and Send
{
	"$build/stftool" "$1" --matched-vtf --dump 2>>out | awk '
	$1 == "DEFFUNCTION" { gsub(/"/, ""); name[$2] = $3 }
	$2 == "MESSAGE" { m++ }
	$2 ~ /^COLL/ { c++ }
	$2 == "ENTER" && name[$NF] ~ /^MPI_(Bcast|Send)$/ { n[name[$NF]]++ }
	END { print (m > 0) " " (c > 0) " " (n["MPI_Bcast"] > 0) " " (n["MPI_Send"] > 0) }'
}
clean
expect timeout 300 "$MPIRUN" -np 2 "$vtrun" --trace-collectives -- ./messages 10 4 >out 2>&1
expect kinds messages.stf >have
expect_text "0 1 1 0" have
verdict "vtrun --trace-collectives"
clean
expect timeout 300 "$MPIRUN" -np 2 "$vtrun" --trace-pt2pt -- ./messages 10 4 >out 2>&1
expect kinds messages.stf >have
expect_text "1 0 0 1" have
verdict "vtrun --trace-pt2pt"

# Fortran: each call once, whichever way it has from the program into MPI.
mpifort=$(echo "$MPICC" | sed 's/mpicc\([^/]*\)$/mpifort\1/')
if [ "${FC:-no}" != no ] && command -v "$mpifort" >/dev/null; then
	for from in 0 1; do
		to=$((1 - from))
		printf '%s\n' "$from $to $((4 + 4 * from)) 1" "$from $to 12 2" "$from $to 16 3" "$from $to 20 4" \
			"$from $to 24 5" "$from $to 24 5" "$from $to 28 6"
	done | sed "s/\$/ Fortran's own/" | LC_ALL=C sort >want.messages
	# function and how often on both ranks
	cat >want.calls <<'END'
MPI_Allreduce 2
MPI_Barrier 2
MPI_Bcast 2
MPI_Comm_dup 2
MPI_Comm_free 4
MPI_Comm_rank 2
MPI_Comm_set_name 2
MPI_Comm_split 2
MPI_Gatherv 2
MPI_Iallgather 2
MPI_Irecv 6
MPI_Isend 4
MPI_Mprobe 2
MPI_Mrecv 2
MPI_Recv 2
MPI_Recv_init 2
MPI_Request_free 4
MPI_Send 4
MPI_Send_init 2
MPI_Sendrecv_replace 2
MPI_Ssend 2
MPI_Start 8
MPI_Wait 8
MPI_Waitall 2
MPI_Waitany 2
MPI_Waitsome 2
END
	# operation, root, bytes sent and received by each member
	cat >want.operations <<'END'
MPI_Allreduce - 8 8
MPI_Allreduce - 8 8
MPI_Barrier - - -
MPI_Barrier - - -
MPI_Bcast 1 0 36
MPI_Bcast 1 36 0
MPI_Gatherv 0 12 32
MPI_Gatherv 0 20 0
MPI_Iallgather - 8 16
MPI_Iallgather - 8 16
END
	for way in -DMPIF -DMODULE -DF08; do
		expect mpi_compile "$mpifort" mpi/fortran/mpi_calls.F90 calls $way -w
		expect run 2 ./calls
		expect messages calls.stf >have
		expect "$build/stftool" calls.stf --dump >dump
		expect_same want.messages have
		awk '$1 == "DEFFUNCTION" { gsub(/"/, ""); name[$2] = $3 }
			$2 == "ENTER" && name[$6] ~ /^MPI_/ && name[$6] !~ /^MPI_(Test|Init|Finalize)$/ {
			n[name[$6]]++ }
			END { for (f in n) { print f, n[f] } }' dump | LC_ALL=C expect sort >have.calls
		expect_same want.calls have.calls
		awk '$1 == "DEFCOLLOP" { gsub(/"/, ""); name[$2] = $3 }
			$2 == "GLOBALOP" {
				v["ROOT"] = v["SENT"] = v["RECVD"] = "-"
				for (i = 3; i < NF; i++) { v[$i] = $(i + 1) }
				print name[v["OP"]], v["ROOT"] == "-" ? "-" : v["ROOT"] - 1, v["SENT"], v["RECVD"]
			}' dump | LC_ALL=C expect sort >have.operations
		expect_same want.operations have.operations
		verdict "Fortran $way: messages, calls, operations"
	done
else
	skip 3 "no Fortran compiler for MPI"
fi
done_testing
