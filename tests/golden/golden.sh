#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Stored traces: good ones print the text beside them, and a second reader prints the same; each bad one is refused
# with the line in bad.txt. TAP.
# shellcheck disable=SC1091,SC2154
. "${top_srcdir:-.}/tests/cli/lib/toollib.sh"
golden=$src/tests/golden
PYTHON3=${PYTHON3:-python3}
tab=$(printf '\t')

python_is_there()
{
	command -v "$PYTHON3" >/dev/null 2>&1
}

# One Python for all traces, which takes their names from one FIFO and answers in another. Memory that it may take: what
# Python itself needs, and a little; the largest golden trace has 13 KB.
if python_is_there; then
	mkfifo "$dir/ask" "$dir/answer"
	# shellcheck disable=SC3045
	(ulimit -v 400000 && PYTHONDONTWRITEBYTECODE=1 exec "$PYTHON3" "$golden/second_reader.py" \
		--serve "$dir/second" "$dir/err" \
		<"$dir/ask" >"$dir/answer") &
	exec 3>"$dir/ask" 4<"$dir/answer"
fi

second() # second TRACE: what the second reader prints, in $dir/second, and its status; 3 if it died
{
	echo "$1" >&3
	read -r answer <&4 || answer=3
	return "$answer"
}

agree() # agree NAME TRACE STATUS: both print the same and end alike
{
	if python_is_there; then
		tool "$2" --dump
		tail -n +2 "$dir/out" >"$dir/first"
		second "$2"
		expect [ $? -eq "$3" ]
		expect_status "$3"
		expect_same "$dir/first" "$dir/second"
		expect [ "$(wc -l <"$dir/first")" -ge 2 ]
		verdict "the second reader agrees: $1"
	else
		skip "the second reader agrees: $1" "no python3"
	fi
}

if python_is_there; then
	mkdir "$dir/made"
	PYTHONDONTWRITEBYTECODE=1 "$PYTHON3" "$golden/make_golden.py" "$dir/made" 2>"$dir/err"
	rc=$?
	for f in "$golden"/single/*.stf; do
		case $f in *frame*) continue ;; esac # another zstd may pack in another way
		cmp "$f" "$dir/made/${f##*/}" >>"$dir/diff" || rc=1
	done
	for f in "$dir"/made/*.stf; do
		cmp "$f" "$golden/single/${f##*/}" >>"$dir/diff" 2>&1 || case $f in *frame*) ;; *) rc=1 ;; esac
		[ -e "$golden/single/${f##*/}" ] || rc=1
	done
	[ "$rc" -eq 0 ]
	ok "the stored traces are those that make_golden.py makes" $?
else
	skip "the stored traces are those that make_golden.py makes" "no python3"
fi

for f in "$golden"/single/*.avt; do
	name=${f##*/} name=${name%.avt}
	tool "$golden/single/$name.single.stf" --dump
	if grep -q 'has no zstd' "$dir/err"; then
		skip "$name prints what it should" "this build has no zstd"
		continue
	fi
	tail -n +2 "$dir/out" | expect diff "$f" - >"$dir/diff"
	expect_status 0
	expect_empty "$dir/err"
	verdict "$name prints what it should"
	agree "$name" "$golden/single/$name.single.stf" 0
done
from_text "$src/tests/cli/stftool/coll.avt" "$dir/coll.stf"
# an anchored trace has anchors for components of any size, as traces had before December 2026
for t in "$golden/every-little.stf" "$golden/every-big.stf" "$golden/anchored-little.stf" "$golden/plain-little.stf" \
	"$golden/plain-big.stf" "$rich" "$dir/coll.stf" "$dir/big.stf" "$dir/empty.stf" "$dir/one.stf"; do
	agree "${t##*/}" "$t" 0
done
if python_is_there; then
	for kind in late mixed; do
		PYTHONDONTWRITEBYTECODE=1 "$PYTHON3" "$golden/make_golden.py" --$kind >"$dir/$kind.avt"
		from_text "$dir/$kind.avt" "$dir/$kind.stf" && tool "$dir/$kind.stf" --verify
		expect_status 0
		expect_line ' 0 faults$' "$dir/err"
		verdict "--verify finds the histories of many anchors right: $kind"
		agree "60000 records of most kinds, histories too: $kind" "$dir/$kind.stf" 0
	done
	# frames of calls alone: with the place in the source, without it, and both
	for kind in SCL '' .; do
		awk -v kind="$kind" '!/^[0-9]/ || / LEAVE / || (/ ENTER / &&
			(kind ? $0 ~ kind : !/ SCL /))' "$dir/mixed.avt" | sed '/ LEAVE /s/ SCL .*//' >"$dir/calls.avt"
		expect from_text "$dir/calls.avt" "$dir/plain.stf"
		expect tool "$dir/plain.stf" --convert "$dir/calls.stf" --force --compress-trace 1
		expect [ -e "$dir/calls.stf.f.0.zst" ]
		verdict "calls alone, compressed: ENTER '$kind'"
		agree "calls alone: ENTER '$kind'" "$dir/calls.stf" 0
	done
	# a counter of a thread, a value, a function on a stack, the time before a record under way: bytes from the end
	for c in .c.0:7 .c.0:15 .f.0:7 .msg:7; do
		anc=$dir/mixed.stf${c%:*}.anc
		cp "$anc" "$dir/anc"
		size=$(wc -c <"$anc")
		printf '\376' | dd of="$anc" bs=1 seek=$((size - ${c#*:})) conv=notrunc 2>/dev/null
		tool "$dir/mixed.stf" --verify
		expect_status 1
		expect_line -E "^stftool: $anc: offset [0-9]+, record [0-9]+: .*(says|has|refers) " "$dir/err"
		verdict "--verify compares the histories with the data: $c"
		! second "$dir/mixed.stf"
		ok "so does the second reader: $c" $?
		cp "$dir/anc" "$anc"
	done
fi

n=0
while IFS=$tab read -r name line; do
	t=$golden/single/$name.single.stf
	tool "$t" --verify
	n=$((n + 1))
	if grep -q 'has no zstd' "$dir/err" || { [ "$name" = bad-checksum ] && [ "$status" -eq 0 ]; }; then
		skip "$name" "this build has no zstd or xxhash"
		continue
	fi
	printf '%s\n' "stftool: $t$line" >"$dir/want"
	expect_status 1
	head -n 1 "$dir/err" | expect diff "$dir/want" - >"$dir/diff"
	verdict "$name is refused, with its place"
	case $name in
	bad-size-co* | bad-undefined-id | bad-time-* | bad-frame-* | bad-dir-past-end) agree "$name, up to the fault" \
		"$t" 1 ;;
	esac
	if python_is_there; then
		second "$t"
		expect [ $? -eq 1 ]
		expect_not grep -v '^second_reader: ' "$dir/err" >"$dir/diff"
		expect [ -s "$dir/err" ]
		verdict "the second reader refuses $name"
	fi
done <"$golden/bad.txt"
set -- "$golden"/single/bad-*.stf
[ "$n" -eq $# ]
ok "every bad trace has its line" $?

# a small trace cut at every byte: all that was whole is printed, the fault has its place
tool "$golden/single/other-ids.single.stf" --convert "$dir/cut.stf"
broken=
for c in .c.0 .f.0 .msg; do
	cp "$dir/cut.stf$c" "$dir/whole"
	size=$(wc -c <"$dir/whole") n=0 shown=0
	while [ "$n" -lt "$size" ]; do
		head -c "$n" "$dir/whole" >"$dir/cut.stf$c"
		tool "$dir/cut.stf" --dump
		k=$(grep -c '^[0-9]' "$dir/out")
		[ "$n" -gt 0 ] || shown=$k
		if [ "$k" -lt "$shown" ] || [ "$k" -gt $((shown + 2)) ] || [ "$status" -gt 1 ] ||
			{ [ "$status" -eq 1 ] &&
			! grep -Eq "^stftool: $dir/cut.stf$c: offset [0-9]+, record [0-9]+: .*the file ends \
inside" "$dir/err"; }; then
			broken="$broken $c@$n"
		fi
		shown=$k n=$((n + 1))
	done
	cp "$dir/whole" "$dir/cut.stf$c"
done
[ -z "$broken" ]
ok "cut at every byte of its data ($broken)" $?
broken=
size=$(wc -c <"$golden/single/other-ids.single.stf") n=0
while [ "$n" -lt "$size" ]; do
	head -c "$n" "$golden/single/other-ids.single.stf" >"$dir/cut.single.stf"
	tool "$dir/cut.single.stf" --verify
	[ "$status" -eq 1 ] && [ -s "$dir/err" ] && ! grep -q "[^ -~]" "$dir/err" || broken="$broken $n"
	n=$((n + 11))
done
[ -z "$broken" ]
ok "a single file cut at many places ($broken)" $?
done_testing
