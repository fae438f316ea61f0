#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# stftool --convert, --move, --remove, --verify, --recover: traces made of traces. TAP.
# shellcheck disable=SC1091,SC2154
. "${top_srcdir:-.}/tests/cli/lib/toollib.sh"

same_trace() # same_trace A B: byte for byte, and no component more
{
	for f in "$1" "$1".*; do
		cmp "$f" "$2${f#"$1"}" >"$dir/diff" || return 1
	done
	set -- "$#" "$1".* "" "$2".*
	[ $((($# - 2) % 2)) -eq 0 ]
}
same_records() # same_records A B: bytes of a component after its identity, which each trace has of its own
{
	cmp -i 34 "$1" "$2" >"$dir/diff"
}

tool "$rich" --dump
cp "$dir/out" "$dir/rich.text"
[ "$status" -eq 0 ]
ok "the trace prints" $?

# ---- --convert ----

expect tool "$rich" --convert "$dir/c.avt"
expect_same "$dir/rich.text" "$dir/c.avt"
verdict "--convert to text, by its suffix"
tool "$rich" --convert -
diff "$dir/rich.text" "$dir/out" >"$dir/diff"
ok "--convert - prints text" $?
expect tool "$rich" --convert "$dir/copy.stf"
expect same_trace "$rich" "$dir/copy.stf"
verdict "--convert to STF copies every byte"
tool "$rich" --convert "$dir/s.single.stf"
expect_status 0
expect [ "$(head -n 1 "$dir/s.single.stf")" = "STFSINGLE 1.0" ]
expect [ "$(sed -n '2s/ [0-9].*//p' "$dir/s.single.stf")" = "FILE base" ]
verdict "--convert to a single file"
"$build/stftool" "$rich" --convert - --logfile-format SINGLESTF 2>"$dir/err" | cat >"$dir/p.single.stf"
cmp "$dir/s.single.stf" "$dir/p.single.stf" >"$dir/diff"
ok "a single file goes through a pipe" $?
tool "$rich" --convert "$dir/packed.stf" --compress-trace
if grep -q 'has no zstd' "$dir/err"; then
	skip "--convert --compress-trace" "this build has no zstd"
else
	# all but the base file, and what it says is the same
	expect_status 0
	expect [ "$(ls "$dir"/packed.stf.*.zst | wc -l)" -eq "$(ls "$rich".* | wc -l)" ]
	expect [ "$(ls "$dir"/packed.stf* | wc -l)" -eq "$(ls "$rich"* | wc -l)" ]
	expect tool "$dir/packed.stf" --dump
	expect_same "$dir/rich.text" "$dir/out"
	verdict "--convert --compress-trace compresses"
	VT_COMPRESS_TRACE=on expect tool "$rich" --convert "$dir/packed.single.stf"
	expect_line -a '^FILE .c.0.zst ' "$dir/packed.single.stf"
	verdict "in a single file too, said by the environment"
	expect tool "$dir/packed.stf" --convert "$dir/repacked.stf"
	expect_same "$dir/packed.stf.c.0.zst" "$dir/repacked.stf.c.0.zst"
	verdict "--convert alone leaves it as it is"
	tool "$dir/packed.single.stf" --convert "$dir/unpacked.stf" --compress-trace off &&
		for c in "$rich".*; do
			same_records "$c" "$dir/unpacked.stf${c#"$rich"}" || break
		done
	ok "--compress-trace off unpacks, to the same bytes" $?
fi
expect tool "$rich" --convert "$dir/each.stf" --stf-procs-per-file 1
expect [ -e "$dir/each.stf.c.1" ]
expect tool "$dir/each.stf" --dump
expect_same "$dir/rich.text" "$dir/out"
verdict "--convert --stf-procs-per-file writes other files"
expect tool "$rich" --convert "$dir/other.name" --logfile-format STFSINGLE
expect_same "$dir/s.single.stf" "$dir/other.name"
verdict "--logfile-format wins over the suffix"
tool "$dir/s.single.stf" --dump
diff "$dir/rich.text" "$dir/out" >"$dir/diff"
ok "a single file is read" $?
tool "$dir/s.single.stf" --print-files
expect_status 0
expect [ "$(awk 'NR > 1 { s += $3 } END { print s }' "$dir/out")" -eq "$(cat "$rich" "$rich".* | wc -c)" ]
expect_line '^\.c\.0 *data' "$dir/out"
verdict "a single file's components are listed"
expect tool "$dir/s.single.stf" --convert "$dir/back.stf"
expect same_trace "$rich" "$dir/back.stf"
verdict "a single file unpacks to the same bytes"
tool "$dir/big.stf" --convert "$dir/b.single.stf" && tool "$dir/b.single.stf" --dump
diff "$dir/rich.text" "$dir/out" >"$dir/diff"
ok "big-endian through a single file" $?
tool "$dir/empty.stf" --convert "$dir/e.single.stf" && tool "$dir/e.single.stf" --verify
ok "an empty trace through a single file" $((status))
refused "the output exists" 1 "$dir/copy.stf exists" "$rich" --convert "$dir/copy.stf"
refused "a component of the output exists" 1 "$dir/copy2.stf.dcl \
exists" "$rich" --convert "$(touch "$dir/copy2.stf.dcl"; echo "$dir/copy2.stf")"
set -- "$dir"/copy2*
[ $# -eq 1 ]
ok "and nothing else of it was written" $?
refused "STF to standard output" 2 'an STF trace is several files' "$rich" --convert - --logfile-format STF
refused "--convert without a name" 2 '--convert needs a file name' "$rich" --convert
refused "an output that cannot be" 1 "cannot create $dir/none/x.stf: No such" "$rich" --convert "$dir/none/x.stf"
tool "$rich" --convert "$dir/r.avt" --request 4s:5s
expect_line 'request is ignored' "$dir/err"
expect_same "$dir/rich.text" "$dir/r.avt"
verdict "--convert ignores --request, and says so"
expect tool "$rich" --logfile-name x.avt --logfile-prefix "$dir"
expect [ -s "$dir/x.avt" ]
verdict "--logfile-prefix"
head -c 100 "$dir/s.single.stf" >"$dir/cut.single.stf"
refused "a single file cut in its directory" 1 \
	"$dir/cut.single.stf: offset [0-9]+, record [0-9]+: the file ends inside its directory" "$dir/cut.single.stf" \
	--dump
size=$(wc -c <"$dir/s.single.stf")
head -c $((size - 3)) "$dir/s.single.stf" >"$dir/cut.single.stf"
tool "$dir/cut.single.stf" --convert "$dir/cut.stf"
expect_status 1
expect_line "$dir/cut.single.stf: offset $((size - 3)), record 9: the file ends inside component .x.0," "$dir/err"
verdict "a single file cut in a component"
printf 'STFSINGLE 1.0\nFILE base 18446744073709551615 2\nEND\n' >"$dir/bad.single.stf"
tool "$dir/bad.single.stf" --convert "$dir/bad.stf"
expect_status 1
expect_line 'offset 14, record 2: expected FILE' "$dir/err"
verdict "a directory that lies"
if mkdir "$dir/full" && mount -t tmpfs -o size=16k none "$dir/full" 2>/dev/null; then
	"$build/tests/cli/lib/make_stf" many "$dir/many.stf" 5000
	for name in m.avt m.stf m.single.stf; do
		tool "$dir/many.stf" --convert "$dir/full/$name"
		expect_status 1
		expect_line "No space left on device" "$dir/err"
		expect [ -z "$(ls "$dir/full")" ]
		verdict "a full disk, $name: said, and nothing half is left"
	done
else
	skip "a full disk" "a tmpfs cannot be mounted here"
fi

# ---- text: text_stf, which the tests have for it, makes the trace again ----

from_text "$dir/c.avt" "$dir/t.stf" && tool "$dir/t.stf" --dump
diff "$dir/rich.text" "$dir/out" >"$dir/diff"
ok "text and back: every line" $?
for c in .msg .f.0 .c.0; do
	same_records "$rich$c" "$dir/t.stf$c"
	ok "text and back: the bytes of $c" $?
done
# the traces of before are too short for anchors
"$build/tests/cli/lib/make_stf" many "$dir/long.stf" 5000
tool "$dir/long.stf" --convert "$dir/long.avt" && from_text "$dir/long.avt" "$dir/again.stf"
for c in .c.0 .c.0.anc; do
	expect [ "$(wc -c <"$dir/long.stf$c")" -gt 100 ]
	expect same_records "$dir/long.stf$c" "$dir/again.stf$c"
	verdict "text and back: the bytes of $c of a long trace"
done
for g in little big; do
	tool "$src/tests/golden/every-$g.stf" --convert "$dir/$g.avt" --matched-vtf &&
		from_text "$dir/$g.avt" "$dir/$g-2.stf" &&
		tool "$dir/$g-2.stf" --dump --matched-vtf
	expect_same "$dir/$g.avt" "$dir/out"
	expect_status 0
	verdict "text and back: every record, from $g-endian"
done
# what old readers know: the whole text without the other lines, without PAIR, and with one counter on a SAMP line
old_lines()
{
	awk '/^(INFO|STAT[A-Z]*|DEF(FILE|SCL|SCOPE|IOFILE|STATS|CPU|CPUNAME)) / { next }
		/^[0-9]+ ((ENTER|LEAVE)SCOPE|IOBEGIN|IOEND|RAW[A-Z]*|REPORT|COMMENT|OPAQUE|ENDFILTER) / { next }
		$2 == "SAMP" { for (i = 5; i < NF; i += 5) print $1, $2, $3, $4, $i, $(i + 1), $(i + 2), $(i + 3),
		$(i + 4); next }
		/^[0-9]/ { sub(/ PAIR [0-9]+.*/, "") } { print }'
}
for t in "$rich" "$src/tests/golden/every-little.stf"; do
	tool "$t" --dump
	old_lines <"$dir/out" >"$dir/want"
	tool "$t" --dump --extended-vtf off
	expect_same "$dir/want" "$dir/out"
	expect [ "$(wc -l <"$dir/out")" -gt 20 ]
	verdict "--extended-vtf off is the whole text without what old readers do not know: ${t##*/}"
done
expect tool "$rich" --convert "$dir/m.avt" --matched-vtf
expect from_text "$dir/m.avt" "$dir/m.stf"
expect same_records "$rich.msg" "$dir/m.stf.msg"
verdict "matched messages and back: the bytes of .msg"
# Collective operations: one line with --matched-vtf, else one of each member at its own time.
from_text "$src/tests/cli/stftool/coll.avt" "$dir/coll.stf" && tool "$dir/coll.stf" --dump
grep -E ' (GLOBALOP|COLL|SENDMSG|RECVMSG)' "$dir/out" >"$dir/lines"
diff - "$dir/lines" >"$dir/diff" <<'END'
100 GLOBALOP CPU 1 OP 1 COMM 1 TIME 10 PAIR 1 KIND ALL MEMBER 1 OF 3 START 0
100 GLOBALOP CPU 3 OP 1 COMM 1 TIME 12 PAIR 1 KIND ALL MEMBER 3 OF 3 START -
105 GLOBALOP CPU 2 OP 1 COMM 1 TIME 11 PAIR 1 KIND ALL MEMBER 2 OF 3 START 5
110 GLOBALOP CPU 1 OP 2 COMM 2 ROOT 3 SENT 0 RECVD 3 TIME 4 SCL 5 PAIR 2 KIND ONETOALL MEMBER 1 OF 2 START 0
111 GLOBALOP CPU 3 OP 2 COMM 2 ROOT 3 SENT 9 RECVD 4 TIME 5 SCL 5 PAIR 2 KIND ONETOALL MEMBER 2 OF 2 START 1
120 GLOBALOP CPU 2 OP 2 COMM 1 ROOT 2 SENT 11 RECVD 77 TIME 2 PAIR 3 KIND ALLTOONE MEMBER 2 OF 3 START 0
125 GLOBALOP CPU 3 OP 2 COMM 1 ROOT 2 SENT 12 RECVD 0 TIME 3 PAIR 3 KIND ALLTOONE MEMBER 3 OF 3 START 5
191 SENDMSG CPU 1 TO 2 COMM 1 TAG 1 LEN 1 FUNCTION 0 PAIR 1
191 GLOBALOP CPU 1 OP 2 COMM 1 ROOT 2 SENT 10 RECVD 0 TIME 1 PAIR 3 KIND ALLTOONE MEMBER 1 OF 3 START 71
192 RECVMSG CPU 2 FROM 1 COMM 1 TAG 1 LEN 1 FUNCTION 0 PAIR 1
195 GLOBALOP CPU 1 OP 2 COMM 2 SENT 1 RECVD 3 TIME 4 PAIR 4 KIND ALLTOALL MEMBER 1 OF 2 START 0
196 GLOBALOP CPU 3 OP 2 COMM 2 SENT 2 RECVD 4 TIME 5 PAIR 4 KIND ALLTOALL MEMBER 2 OF 2 START 1
300 COLLALL COMM 7 OP 1 START 1 0 TIME 1 3
301 COLLONETOALL ROOT 2 ROOTLEN 9 COMM 2 OP 2 START 2 0 1 TIME 2 4 5 RECVD 2 3 4
END
ok "a collective operation is a line of each member, but where it cannot be split" $?
expect tool "$dir/coll.stf" --convert "$dir/mc.avt" --matched-vtf
expect from_text "$dir/mc.avt" "$dir/coll2.stf"
expect same_records "$dir/coll.stf.cop" "$dir/coll2.stf.cop"
verdict "matched collective operations and back: the bytes of .cop"
xtool "$dir/coll.stf"
grep \
	-Fxq \
	'120 GLOBALOP CPU 0:1 OP "MPI_Gather" COMM "world" ROOT 0:1 SENT 11 RECVD 77 TIME 2 PAIR 3 KIND ALLTOONE '\
'MEMBER 2 OF 3 START 0' "$dir/out"
ok "xstftool prints names there" $?
tool "$dir/coll.stf" --dump --matched-vtf
sed -n '/ COLL/p' "$dir/out" >"$dir/lines"
sed -n '/ COLL/p' "$src/tests/cli/stftool/coll.avt" | expect diff - "$dir/lines" >"$dir/diff"
expect_lines 0 GLOBALOP "$dir/out"
verdict "--matched-vtf puts a collective operation on one line"
tool "$dir/coll.stf" --dump
old_lines <"$dir/out" >"$dir/want"
tool "$dir/coll.stf" --dump --extended-vtf off
expect_same "$dir/want" "$dir/out"
expect_line '^125 GLOBALOP CPU 3 OP 2 COMM 1 ROOT 2 SENT 12 RECVD 0 TIME 3$' "$dir/out"
verdict "--extended-vtf off leaves collective operations the fields of VTF 3"
# collective operations of some threads, and those under way in a window
tool "$dir/coll.stf" --dump --matched-vtf --request 1
expect_status 0
expect [ "$(grep -o 'COLL[A-Z]* \(ROOT [0-9]* ROOTLEN [0-9]* \)*COMM [0-9]*' "$dir/out" | sed 's/.*COMM '\
'//' | sort | tr '\n' ' ')" = '1 1 7 ' ]
verdict "--request with a thread takes the collective operations of its communicators"
tool "$dir/coll.stf" --dump --matched-vtf --request 192ns:192ns
expect_status 0
expect_lines 1 '^120 COLLALLTOONE ' "$dir/out"
expect_lines 1 '^[0-9]* COLL' "$dir/out"
verdict "a window takes a collective operation that was under way"
"$build/tests/cli/lib/make_stf" big "$dir/parts.stf" &&
	tool "$dir/parts.stf" --convert "$dir/parts2.stf" --stf-procs-per-file 1 &&
	[ -e "$dir/parts2.stf.c.1" ] && tool "$dir/parts2.stf" --convert "$dir/parts3.stf" --compress-trace
expect_status 0
{ ls "$dir"/parts3.stf.c.1* >/dev/null 2>&1 || grep -q 'no zstd' "$dir/err"; } ||
	not_met '{ ls "$dir"/parts3.stf.c.1* >/dev/null 2>&1 || grep -q ...'
verdict "--compress-trace keeps the partition"
tool "$dir/parts.stf" --convert "$dir/parts4.stf" --compress-trace
grep -q 'big-endian, what is written is little-endian' "$dir/err" || grep -q 'no zstd' "$dir/err"
ok "and says that it changes the byte order" $?
refused "text is not read" 2 "$dir/c.avt: the ASCII format is written but not read; give the trace" "$dir/c.avt" \
	--convert "$dir/no.stf"
cp "$dir/c.avt" "$dir/text"
refused "nor by the name of its format" 2 "$dir/text: the ASCII format is written but not read" "$dir/text" \
	--dump --input-format ascii


# ---- a selection as a trace ----

tool "$rich" --request COUNTERS, 4s:7s --logfile-name "$dir/part.stf"
expect_status 0
expect_line '3 records written' "$dir/err"
expect tool "$dir/part.stf" --dump
expect_lines 3 '^[0-9]' "$dir/out"
expect has 'DURATION 4000000001 6000000001'
expect tool "$dir/part.stf" --verify
expect_status 0
verdict "--request with --logfile-name writes a valid trace"
tool "$rich" --request COUNTERS, 4s:7s --logfile-name "$dir/part.single.stf" &&
	tool "$dir/part.single.stf" --print-counters --csv
[ "$(grep -c ',3,' "$dir/out")" -eq 3 ]
ok "a selection as a single file" $?
expect tool "$rich" --logfile-name "$dir/sets.stf" --stf-procs-per-file 1
expect [ -s "$dir/sets.stf.c.1" ]
expect tool "$dir/sets.stf" --verify
expect_status 0
verdict "--stf-procs-per-file"

# ---- --move, --remove ----

expect tool "$dir/copy.stf" --move "$dir/moved.stf"
expect same_trace "$rich" "$dir/moved.stf"
expect [ ! -e "$dir/copy.stf" ]
expect [ ! -e "$dir/copy.stf.dcl" ]
verdict "--move to another name"
mkdir "$dir/there"
expect tool "$dir/moved.stf" --move "$dir/there"
expect same_trace "$rich" "$dir/there/moved.stf"
verdict "--move to a directory"
expect tool "$dir/there/moved.stf" --move "$dir/"
expect_line -F "is now $dir/moved.stf" "$dir/err"
expect tool "$dir/moved.stf" --move "$dir/there/"
verdict "--move to a directory with a slash"
touch "$dir/new.stf.c.0"
refused "--move does not replace" 1 "$dir/new.stf.c.0 exists" "$dir/there/moved.stf" --move "$dir/new.stf"
same_trace "$rich" "$dir/there/moved.stf"
ok "and leaves all where it was" $?
refused "--move to itself" 1 '.* are the same file' "$dir/there/moved.stf" --move "$dir/there"
expect tool "$dir/other.name" --move "$dir/moved.single.stf"
expect_same "$dir/s.single.stf" "$dir/moved.single.stf"
verdict "--move of a single file"
touch "$dir/there/moved.stf.mine"
expect tool "$dir/there/moved.stf" --remove
expect [ "$(ls "$dir/there")" = moved.stf.mine ]
verdict "--remove takes the components and nothing else"
expect tool "$dir/moved.single.stf" --remove
expect [ ! -e "$dir/moved.single.stf" ]
verdict "--remove of a single file"
refused "--remove of something else" 1 "$dir/rich.text: " "$dir/rich.text" --remove
[ -e "$dir/rich.text" ]
ok "leaves it" $?

mkdir "$dir/a b'\"ü"
odd="$dir/a b'\"ü/t ü.stf"
tool "$rich" --convert "$odd" && tool "$odd" --verify && [ "$status" -eq 0 ] && rm "$odd.dcl" "$odd.c.0" &&
	tool "$odd" --move "$odd.2.stf" && tool "$odd.2.stf" --remove
expect_status 0
expect_line 'removed, 6 files' "$dir/err"
expect [ -z "$(ls "$dir/a b'\"ü")" ]
verdict "--move and --remove of a part of a trace, whose name has blanks, quotes, UTF-8"

# ---- --verify, --recover ----

for t in "$rich" "$dir/big.stf" "$dir/empty.stf" "$dir/one.stf" "$dir/s.single.stf" \
	"$src/tests/golden/every-little.stf" \
	"$src/tests/golden/every-big.stf"; do
	tool "$t" --verify
	expect_status 0
	expect_line ' 0 faults$' "$dir/err"
	verdict "--verify of a good trace: ${t##*/}"
done
"$build/tests/cli/lib/make_stf" dangling "$dir/d.stf"
tool "$dir/d.stf" --verify
expect_status 1
expect_lines 2 'refers to what was not declared, function' "$dir/err"
expect_line "$dir/d.stf.f.0: offset 47, record 3: .*(99)" "$dir/err"
verdict "--verify: every dangling reference"
cp "$rich.c.0" "$dir/whole"
head -c 234 "$dir/whole" >"$rich.c.0"
tool "$rich" --verify
expect_status 1
expect_line -E "^stftool: $rich.c.0: offset [0-9]+, record [0-9]+: " "$dir/err"
verdict "--verify: a file cut short"
tool "$rich" --recover "$dir/saved.stf"
expect_status 1
expect_line '1 components ended in a fault' "$dir/err"
expect tool "$dir/saved.stf" --verify
expect_status 0
expect tool "$dir/saved.stf" --dump
expect_lines 4 SAMP "$dir/out"
expect_lines 10 MSG "$dir/out"
verdict "--recover: what is left is a valid trace"
grep -q 'INFO .*recovered: 1 faults, 0 records not copied' "$dir/out"
ok "--recover: the trace says so itself" $?
rm "$rich.c.0"
tool "$rich" --verify
expect_status 1
expect_line "$rich.c.0: " "$dir/err"
verdict "--verify: a missing file"
cp "$dir/whole" "$rich.c.0"
tool "$rich" --recover
expect_status 2
expect_line 'recover needs a file name' "$dir/err"
verdict "--recover without a name"
printf '\007' | dd of="$dir/long.stf.c.0.anc" bs=1 seek=43 conv=notrunc 2>/dev/null
tool "$dir/long.stf" --verify
expect_status 1
expect_line "$dir/long.stf.c.0.anc: offset 34, record 2: anchor: offset 7 is not 0" "$dir/err"
verdict "--verify: a wrong anchor"

if tool "$rich" --verify && grep -q '7 of them with a good checksum' "$dir/err"; then
	# another value than the byte has: what is there differs from run to run
	byte=$(od -An -tu1 -j20 -N1 "$rich.c.0")
	printf "\\$(printf %03o $((byte ^ 1)))" | dd of="$rich.c.0" bs=1 seek=20 conv=notrunc 2>/dev/null
	tool "$rich" --verify
	expect_status 1
	expect_line -E "^stftool: $rich.c.0: has the checksum [0-9a-f]{16}, the index states [0-9a-f]{16}" "$dir/err"
	verdict "--verify: one byte changed"
	cp "$dir/whole" "$rich.c.0"
else
	skip "--verify: one byte changed" "this build has no xxhash"
fi

# ---- through a pipe ----
tool "$rich" --convert "$dir/pipe.single.stf"
# shellcheck disable=SC2002
cat "$dir/pipe.single.stf" | "$build/stftool" - --dump >"$dir/piped" 2>"$dir/err"
status=$?
expect_status 0
expect tool "$rich" --dump
expect_same "$dir/out" "$dir/piped"
verdict "a trace from standard input"
expect "$build/stftool" - --convert "$dir/taken.stf" <"$dir/pipe.single.stf" 2>"$dir/err"
expect_same "$rich.c.0" "$dir/taken.stf.c.0"
verdict "a file as standard input"
head -c 3000 "$dir/pipe.single.stf" | "$build/stftool" - --verify 2>"$dir/err"
expect [ $? -eq 1 ]
expect_line '^stftool: /dev/stdin' "$dir/err"
verdict "half a trace from standard input"

# ---- a writer that did not end, a base file that is lost ----

mkdir "$dir/k"
sh -c '"$1" killed "$2"' - "$build/tests/cli/lib/make_stf" "$dir/k/k.stf" 2>/dev/null
[ ! -e "$dir/k/k.stf" ] && tool "$dir/k/k.stf" --recover "$dir/kept.stf"
expect_status 0
expect_line '3 components lie there of a writer that did not end' "$dir/err"
expect_line 'the index is lost' "$dir/err"
expect tool "$dir/kept.stf" --verify
expect_status 0
expect tool "$dir/kept.stf" --dump
expect has 'DEFFUNCTION 77 "late" CLASS 0'
expect has 'CLKPERIOD 1e-09'
expect [ "$(grep -c SAMP "$dir/out")" -gt 40000 ]
verdict "--recover: a writer that was killed"
temp=$(echo "$dir"/k/k.stf.tmp-*)
cp "$rich" "$dir/k/k.stf"
for f in "$rich".*; do
	cp "$f" "$dir/k/k.stf${f#"$rich"}"
done
tool "$dir/k/k.stf" --recover "$dir/kept2.stf"
expect_status 0
expect_line -F "$temp: left by a writer that did not end" "$dir/err"
verdict "--recover of a good trace says what lies beside it"
tool "$temp" --recover "$dir/kept3.stf" && tool "$dir/kept3.stf" --dump
expect_status 0
expect [ "$(grep -c SAMP "$dir/out")" -gt 40000 ]
verdict "--recover takes it by its name"
for how in gone rubbish cut torn; do
	rm -f "$dir"/lost.stf*
	for f in "$rich" "$rich".*; do
		cp "$f" "$dir/lost.stf${f#"$rich"}"
	done
	case $how in
	gone) rm "$dir/lost.stf" ;;
	rubbish) head -c 3000 /dev/zero >"$dir/lost.stf" ;;
	cut) head -c $(($(grep -abo '^END' "$rich" | cut -d: -f1) + 30)) "$rich" >"$dir/lost.stf" ;;
	torn) head -c $(($(grep -abo '^END' "$rich" | cut -d: -f1) + 35)) "$rich" >"$dir/lost.stf" ;;
	esac
	tool "$dir/lost.stf" --recover "$dir/$how.stf"
	# what the index alone says is missing
	expect_status 1
	expect_line -E 'the index is lost|the base file is damaged' "$dir/err"
	expect tool "$dir/$how.stf" --verify
	expect_status 0
	expect tool "$dir/$how.stf" --dump
	expect grep '^[0-9]' "$dir/out" >"$dir/got"
	grep '^[0-9]' "$dir/rich.text" | expect diff - "$dir/got" >"$dir/diff"
	verdict "--recover: a base file that is $how, every event is there"
done
# cut after each declaration of a file but the last ones, before the next (whose id is that of "!"): components after
# the cut are named and not lost
broken='' n=0
# shellcheck disable=SC2046
set -- $(LC_ALL=C grep -abo '\.\(dcl\|sts\|msg\|[a-z]\.0\)\(\.anc\)\{0,1\}!' "$rich" | awk -F: '{
	print $1 + length($2) - 1 }')
while [ $# -gt 1 ]; do
	rm -f "$dir"/lost.stf*
	for f in "$rich" "$rich".*; do
		cp "$f" "$dir/lost.stf${f#"$rich"}"
	done
	head -c "$1" "$rich" >"$dir/lost.stf"
	rm -f "$dir"/some.stf*
	tool "$dir/lost.stf" --recover "$dir/some.stf"
	named=$(grep -c 'no file declaration of the index names it$' "$dir/err")
	[ "$status" -eq 1 ] && [ "$named" -gt 0 ] && grep -q 'ends inside the list of files' "$dir/err" &&
		tool "$dir/some.stf" --dump &&
		grep '^[0-9]' "$dir/out" >"$dir/got" && grep '^[0-9]' "$dir/rich.text" | cmp -s - "$dir/got" ||
		broken="$broken $1"
	n=$((n + 1))
	shift
done
expect [ -z "$broken" ]
expect [ "$n" -eq 5 ]
verdict "--recover: an index cut between two files says so, every event is there$broken"
# one bad line costs one definition, which is known; info records and byte order are those that were written
n=0 broken=''
for change in 's/^RECORD 22 counter_value/RECORD 22 counter_valve/' \
	's/U1:size_1_2 <O8:values>/U2:size_1_2 <O8:values>/' \
	's/^STF 1.0 LITTLE$/STF 1.0 BIG/' '/^RECORD 48 /d' 's/^RECORD 72 willy_id U4:gtp$/RECORD 72 willy_id U9:gtp/' \
	's/^END$/EMD/'; do
	rm -f "$dir"/lost.stf* "$dir"/line.stf*
	for f in "$rich" "$rich".*; do
		cp "$f" "$dir/lost.stf${f#"$rich"}"
	done
	LC_ALL=C sed "$change" "$rich" >"$dir/lost.stf"
	tool "$dir/lost.stf" --recover "$dir/line.stf"
	[ "$status" -eq 1 ] && grep -q 'the base file is damaged' "$dir/err" && tool "$dir/line.stf" --verify &&
		[ "$status" -eq 0 ] &&
		tool "$dir/line.stf" --dump && has 'INFO CLASS 4 TEXT "make_stf"' &&
		has 'DURATION 1000000000 9000000000' &&
		grep '^[0-9]' "$dir/out" | cmp -s - "$dir/got" || broken="$broken $change"
	n=$((n + 1))
done
expect [ "$n" -eq 6 ]
expect [ -z "$broken" ]
verdict "--recover: a bad line of the definition layer costs no record$broken"
# the definitions of a trace that others wrote are kept, but for the line that is bad
foreign=$src/tests/golden/plain-little.stf
tool "$foreign" --dump && grep '^[0-9]' "$dir/out" >"$dir/foreign.text"
rm -f "$dir"/lost.stf* "$dir"/line.stf*
for f in "$foreign" "$foreign".*; do
	cp "$f" "$dir/lost.stf${f#"$foreign"}"
done
LC_ALL=C sed 's/^RECORD 22 counter_value /RECORD 22 counter_value :/' "$foreign" >"$dir/lost.stf"
tool "$dir/lost.stf" --recover "$dir/line.stf"
expect_status 1
expect_line 'the definition of this library is taken' "$dir/err"
expect tool "$dir/line.stf" --dump
grep '^[0-9]' "$dir/out" | expect cmp -s - "$dir/foreign.text"
verdict "--recover: a bad line in a trace without checksums"
rm -f "$dir"/lost.stf*
for f in "$rich" "$rich".*; do
	cp "$f" "$dir/lost.stf${f#"$rich"}"
done
cp "$rich.c.0" "$dir/lost.stf.c.9"
tool "$dir/lost.stf" --recover "$dir/left.stf"
expect_status 0
expect_line "^stftool: $dir/lost.stf.c.9: no file declaration" "$dir/err"
expect_line 'another run may have left' "$dir/err"
expect tool "$dir/left.stf" --dump
grep '^[0-9]' "$dir/out" | expect cmp -s - "$dir/got"
verdict "--recover: what another run left is named and not taken"
tool "$dir/nothing.stf" --recover "$dir/nothing2.stf"
expect_status 1
expect [ "$(wc -l <"$dir/err")" -eq 1 ]
expect [ ! -e "$dir/nothing2.stf" ]
verdict "--recover of nothing"

# ---- not there yet ----

refused "--merge wants raw files" 1 '.*no raw file' "$rich" --merge x.stf
refused "--merge deletes nothing else" 1 '.*no raw file' "$rich" --merge x.stf --delete-raw-data
[ -e "$rich" ]
ok "--merge deleted nothing" $?
refused "--delete-raw-data alone" 2 '--delete-raw-data only goes with' "$rich" --delete-raw-data
refused "two actions" 2 'only one of' "$rich" --remove --convert x.avt
done_testing
