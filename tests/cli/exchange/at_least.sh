#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Sizes that a record of STF cannot hold are "at least" in every output: a message, parts of an operation, an operation
# on a file. TAP.
# shellcheck disable=SC1091,SC2154
. "${top_srcdir:-.}/tests/cli/lib/toollib.sh"

cat >"$dir/big.avt" <<'END_OF_TRACE'
CLKPERIOD 1e-09
NCPUS 1 1
DEFCLASS 1 "MPI" SELF "MPI" PARENT 0
DEFFUNCTION 1 "MPI_Send" CLASS 1
DEFFUNCTION 2 "MPI_Recv" CLASS 1
DEFFUNCTION 3 "MPI_Alltoall" CLASS 1
DEFCOMM 1 "world" LEFT 0 FIRST 1 1 LAST 1 2 STRIDE 1 1
DEFCOLLOP 1 "MPI_Alltoall" TYPE 4
100 ENTER CPU 1 FUNCTION 1
100 MESSAGE FROM 1 TO 2 TIME 50 COMM 1 TAG 3 LEN 4294967295 SFUNCTION 1 RFUNCTION 2
110 ENTER CPU 2 FUNCTION 2
120 LEAVE CPU 1
130 ENTER CPU 1 FUNCTION 1
130 MESSAGE FROM 1 TO 2 TIME 40 COMM 1 TAG 4 LEN 4294967294 SFUNCTION 1 RFUNCTION 2
140 LEAVE CPU 1
150 LEAVE CPU 2
200 COLLALLTOALL COMM 1 OP 1 START 2 0 1 TIME 2 4 5 SENT 2 4294967295 3000000000 RECVD 2 7 3000000000
200 ENTER CPU 1 FUNCTION 3
201 ENTER CPU 2 FUNCTION 3
204 LEAVE CPU 1
206 LEAVE CPU 2
END_OF_TRACE
from_text "$dir/big.avt" "$dir/big.stf" || exit 99

tool "$dir/big.stf" --print-statistics
grep -v '^#' "$dir/out" >"$dir/rows"
expect_line '^# at least: bytes = 4294967294, count = 4294967295$' "$dir/out"
# not "no message", and not 6,000,000,000 modulo 2^32
expect_line '^0:1:1:4294967294:2:2:' "$dir/rows"
expect_line '^0:3:0xfffffffe:4294967294:2:1:' "$dir/rows"
expect_line '^1:3:0xfffffffe:4294967294:2:1:' "$dir/rows"
verdict "rows of statistics"
"$build/tools/convert-stats" "$dir/out" >"$dir/table"
expect_line '^0:0	MPI:MPI_Send	0:1	>=4294967294	2	2	' "$dir/table"
verdict "convert-stats"
tool "$dir/big.stf" --print-statistics --csv
expect_line '^"0:0","MPI:MPI_Send","0:1",">=4294967294",2,2,' "$dir/out"
verdict "statistics as CSV"

# convert FORMAT FILE N: the end of the conversion says of how many sizes the value is not known
convert()
{
	tool "$dir/big.stf" --convert "$dir/$2" --logfile-format "$1"
	expect_status 0
	expect_line "at least 4294967295 bytes ($3)" "$dir/err"
}
convert JSONL t.jsonl 2
expect [ "$(grep -c '"type":"send".*"bytes":4294967295,"bytes_at_least":true' "$dir/t.jsonl")" = 1 ]
expect [ "$(grep -c '"bytes":4294967294}' "$dir/t.jsonl")" = 2 ]
expect [ "$(grep -c '"sent":4294967295,"sent_at_least":true,"received":7[,}]' "$dir/t.jsonl")" = 2 ]
expect [ "$(grep -c at_least "$dir/t.jsonl")" = 4 ]
verdict "JSON lines"
convert CHROME t.json 2
expect [ "$(grep -c '"bytes":4294967295,"bytes_at_least":true' "$dir/t.json")" = 2 ]
verdict "Chrome"
convert PAJE t.paje 2
expect [ "$(grep -c 'at least 4294967295 bytes' "$dir/t.paje")" = 2 ]
verdict "Paje"
convert PERFETTO t.perfetto 2
# its packets are compressed
python3 -c 'import sys, zlib
b = open(sys.argv[1], "rb").read()
for i in range(len(b)):
    if b[i] == 0x78:
        try:
            sys.stdout.buffer.write(zlib.decompressobj().decompress(b[i:]))
        except zlib.error:
            pass' "$dir/t.perfetto" >"$dir/packets"
expect grep -aq 'size, at least' "$dir/packets"
expect grep -aq 'sent, at least' "$dir/packets"
verdict "Perfetto"
convert CTF t.ctf 2
expect_line 'bytes_at_least = 4294967295;' "$dir/t.ctf/metadata"
verdict "CTF"
again() # again FILE: converted back, it is printed once more
{
	tool "$dir/$1" --convert "$dir/back.stf" --force
	expect_status 0
	tool "$dir/back.stf" --print-clock
	expect_line 'missing *"\{0,1\}[23] sizes are at least 4294967295 bytes' "$dir/out"
	tool "$dir/back.stf" --convert "$dir/back.jsonl" --logfile-format JSONL --force
	expect [ "$(grep -c '"bytes":4294967295,"bytes_at_least":true' "$dir/back.jsonl")" = 2 ]
}
if command -v otf2-print >/dev/null && "$build/stftool" --help | grep -q OTF2; then
	convert OTF2 t.otf2 2
	otf2-print "$dir/t.otf2/traces.otf2" >"$dir/print"
	expect [ "$(grep -c '"bytes at least" <0>; UINT32; 4294967295' "$dir/print")" -ge 2 ]
	again t.otf2
	verdict "OTF2, and back"
fi
# an archive of another program
if [ -e "$dir/t.otf2" ] && /usr/bin/python3 -c 'import otf2' 2>/dev/null; then
	/usr/bin/python3 -B - "$dir/large" <<'END' 2>"$dir/warn"
import sys
import otf2
with otf2.writer.open(sys.argv[1], timer_resolution=10**9) as w:
    d = w.definitions
    node = d.system_tree_node("node")
    locations = [d.location("main", group=d.location_group(f"MPI Rank {k}", system_tree_parent=node)) for k in range(2)]
    members = d.group("", group_type=otf2.GroupType.COMM_LOCATIONS, members=locations, paradigm=otf2.Paradigm.MPI)
    world = d.comm("world", group=d.group("", group_type=otf2.GroupType.COMM_GROUP, members=locations,
                                          paradigm=otf2.Paradigm.MPI))
    events = [w.event_writer_from_location(x) for x in locations]
    events[0].program_begin(900, "app", [])
    events[1].buffer_flush(901, 902)
    events[1].buffer_flush(903, 904)
    for k, size in enumerate((5 * 2 ** 30, 2 ** 32 - 2)):
        events[0].mpi_send(1000 + k, 1, world, k, size)
        events[1].mpi_recv(2000 + k, 0, world, k, size)
END
	tool "$dir/large/traces.otf2" --convert "$dir/large.jsonl" --logfile-format JSONL
	expect_status 0
	expect [ "$(grep -c '"type":"send".*"bytes":4294967295,"bytes_at_least":true' "$dir/large.jsonl")" = 1 ]
	expect [ "$(grep -c '"type":"send".*"bytes":4294967294}' "$dir/large.jsonl")" = 1 ]
	expect_line '"missing","text":"[12] sizes are at least 4294967295 bytes' "$dir/large.jsonl"
	verdict "5 GiB in an archive of another program"
	expect_line '3 events of kinds that STF has no record for .*kinds left out (BufferFlush 2, ProgramBegin 1)' \
		"$dir/err"
	verdict "kinds of events that are left out are named"
fi
done_testing
