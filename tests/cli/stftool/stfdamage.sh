#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# One flipped bit anywhere in a trace: no action of stftool ends with 0, and what it writes names what is missing. TAP.
# shellcheck disable=SC1091,SC2154
. "${top_srcdir:-.}/tests/cli/lib/toollib.sh"

if ! { tool "$rich" --verify && grep -q '7 of them with a good checksum' "$dir/err"; }; then
	skip "flipped bits" "this build has no xxhash"
	done_testing
	exit
fi

flip() # flip FILE OFFSET BIT
{
	old=$(od -An -tu1 -j "$2" -N 1 "$1" | tr -d ' ')
	# shellcheck disable=SC2059
	printf "\\$(printf %o $((old ^ (1 << $3))))" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
}

copy() # copy FROM TO: a trace with all its components
{
	rm -f "$2" "$2".*
	for part in "$1" "$1".*; do
		cp "$part" "$2${part#"$1"}"
	done
}

# An output must verify, and either say that something is missing or have all the events.
says_so() # says_so TRACE
{
	tool "$1" --verify
	[ "$status" -eq 0 ] || return 1
	tool "$1" --dump
	grep -Eq 'INFO CLASS [0-9]+ TEXT ".*(damaged|recovered)' "$dir/out" && return 0
	grep '^[0-9]' "$dir/out" | cmp -s - "$dir/events"
}

# places in each file: a few here, FLIPS=12 in tests/ci/series/mutants.sh
flips=${FLIPS:-3}
"$build/tests/cli/lib/make_stf" many "$dir/many.stf" 3000
for source in "$rich" "$dir/many.stf"; do
	copy "$source" "$dir/good.stf"
	tool "$dir/good.stf" --dump
	grep '^[0-9]' "$dir/out" >"$dir/events"
	n=0 accepted='' laundered='' invalid=''
	for f in "$dir"/good.stf "$dir"/good.stf.*; do
		case $f in *.anc | *.sts) continue ;; esac # their records are not in all outputs
		size=$(wc -c <"$f")
		[ "$size" -gt 0 ] || continue
		k=0
		while [ "$k" -lt "$flips" ]; do
			k=$((k + 1))
			copy "$dir/good.stf" "$dir/bad.stf"
			flip "$dir/bad.stf${f#"$dir"/good.stf}" $((size * k / (flips + 1))) $((k % 8))
			where="${f#"$dir"/good.stf}@$((size * k / (flips + 1))).$((k % 8))"
			n=$((n + 1))
			tool "$dir/bad.stf" --verify
			[ "$status" -eq 1 ] || accepted="$accepted verify:$where"
			tool "$dir/bad.stf" --dump
			[ "$status" -eq 1 ] || accepted="$accepted dump:$where"
			for how in "--convert" "--convert --compress-trace=1" "--recover" "--logfile-name"; do
				rm -f "$dir"/out.stf*
				case $how in
				--convert\ *) tool "$dir/bad.stf" --convert "$dir/out.stf" --compress-trace 1 ;;
				*) tool "$dir/bad.stf" "$how" "$dir/out.stf" ;;
				esac
				if grep -q 'has no zstd' "$dir/err"; then continue; fi
				# a base file whose own records are all intact in the components can be made anew
				[ "$status" -eq 1 ] || case $how$where in --recover@*) ;;
					*) accepted="$accepted $how:$where" ;; esac
				if [ -e "$dir/out.stf" ]; then
					says_so "$dir/out.stf" || laundered="$laundered $how:$where"
				fi
			done
		done
	done
	expect [ "$n" -ge $((3 * flips)) ]
	expect [ -z "$accepted" ]
	verdict "$n flipped bits of ${source##*/}: none is accepted${accepted}"
	[ -z "$laundered" ]
	ok "nor in what was written${laundered}" $?
done

# A damaged piece in the middle: named with its thread and times, all else is there.
"$build/tests/cli/lib/make_stf" many "$dir/long.stf" 20000
tool "$dir/long.stf" --dump
grep '^[0-9]' "$dir/out" >"$dir/events"
copy "$dir/long.stf" "$dir/bad.stf"
size=$(wc -c <"$dir/bad.stf.c.0")
flip "$dir/bad.stf.c.0" $((size / 2)) 3
tool "$dir/bad.stf" --dump
expect_status 1
expect_line \
	-E \
	'^stftool: .*: .c.0: [0-9]+ bytes from offset [0-9]+ are damaged and left out: threads? .*, from [0-9.e-]+ s '\
'to [0-9.e-]+ s$' "$dir/err"
expect_line '^C damaged: .c.0: ' "$dir/out"
expect grep '^[0-9]' "$dir/out" >"$dir/left"
verdict "the damaged piece is named, with thread and time"
expect [ "$(diff "$dir/events" "$dir/left" | grep -c '^>')" -eq 0 ]
expect [ "$(wc -l <"$dir/left")" -lt "$(wc -l <"$dir/events")" ]
expect [ "$(wc -l <"$dir/left")" -gt $(($(wc -l <"$dir/events") * 3 / 4)) ]
verdict "all other records are there, and none that was not written"

# Damaged declarations and statistics are of no thread and of no time.
for name in dcl sts; do
	copy "$rich" "$dir/bad.stf"
	flip "$dir/bad.stf.$name" $(($(wc -c <"$rich.$name") / 2)) 3
	tool "$dir/bad.stf" --dump
	expect_status 1
	expect_line -E "^stftool: .*: .$name: [0-9]+ bytes from offset [0-9]+ are damaged and left out\$" "$dir/err"
	verdict "a damaged piece of .$name is named"
done

# What a window holds is looked for twice: before it, then in it. A damaged piece is left out both times.
tool "$rich" --dump
grep '^[0-9]' "$dir/out" >"$dir/events"
copy "$rich" "$dir/bad.stf"
flip "$dir/bad.stf.c.0" 220 1
rm -f "$dir"/out.stf*
tool "$dir/bad.stf" --request COUNTERS,2s:7s --logfile-name "$dir/out.stf"
sort "$dir/events" >"$dir/sorted"
expect_status 1
expect tool "$dir/out.stf" --verify
expect_status 0
expect tool "$dir/out.stf" --dump
grep '^[0-9]' "$dir/out" | sort | expect comm -13 "$dir/sorted" - >"$dir/new"
expect_empty "$dir/new"
verdict "a window of a damaged file has no record that was not written"

# A file that ends between two blocks.
for size in 0 34; do
	copy "$rich" "$dir/bad.stf"
	head -c $size "$rich.r.0" >"$dir/bad.stf.r.0"
	tool "$dir/bad.stf" --dump
	expect_status 1
	expect_line "^stftool: $dir/bad.stf.r.0: offset $size, .*shorter than it was declared" "$dir/err"
	verdict "a file that was cut to $size bytes"
done
"$build/tests/cli/lib/make_stf" many "$dir/many.stf" 6000
copy "$dir/many.stf" "$dir/bad.stf"
head -c $((34 + 22 * 2977)) "$dir/many.stf.c.0" >"$dir/bad.stf.c.0"
tool "$dir/bad.stf" --dump
expect_status 1
expect_line "^stftool: $dir/bad.stf.c.0: offset .*shorter than it was declared" "$dir/err"
expect_lines 2977 SAMP "$dir/out"
verdict "a file that was cut where an anchor is"

# Files of two traces do not mix.
"$build/tests/cli/lib/make_stf" many "$dir/other.stf" 3000
copy "$dir/many.stf" "$dir/mixed.stf"
cp "$dir/other.stf.c.0" "$dir/mixed.stf.c.0"
tool "$dir/mixed.stf" --dump
expect_status 1
expect_line "^stftool: $dir/mixed.stf.c.0: .*belongs to another trace" "$dir/err"
expect_no_line SAMP "$dir/out"
verdict "a component of another trace"
rm "$dir/mixed.stf"
tool "$dir/mixed.stf" --recover "$dir/unmixed.stf"
expect_status 1
expect_line "mixed.stf.c.0: belongs to another trace than the declarations" "$dir/err"
expect tool "$dir/unmixed.stf" --verify
expect_status 0
verdict "--recover takes no component of another trace"

# Byte order and resolution: from the components, or asked for, never guessed.
"$build/tests/cli/lib/make_stf" big "$dir/b.stf"
tool "$dir/b.stf" --dump
grep '^[0-9]' "$dir/out" >"$dir/events"
rm "$dir/b.stf"
tool "$dir/b.stf" --recover "$dir/b2.stf" && tool "$dir/b2.stf" --dump
expect_status 0
grep '^[0-9]' "$dir/out" | expect diff "$dir/events" - >"$dir/diff"
expect has 'CLKPERIOD 1e-09'
verdict "--recover of big-endian components without their base file"
for part in "$src"/tests/golden/plain-big.stf.*; do # of an older writer, without identities
	cp "$part" "$dir/p.stf${part#"$src"/tests/golden/plain-big.stf}"
done
tool "$dir/p.stf" --recover "$dir/p2.stf"
expect_status 1
expect_line 'give it with --byte-order' "$dir/err"
expect [ ! -e "$dir/p2.stf" ]
verdict "--recover asks for the byte order"
tool "$dir/p.stf" --recover "$dir/p2.stf" --byte-order big
expect_status 1
expect_line 'give it with --resolution' "$dir/err"
expect [ ! -e "$dir/p2.stf" ]
verdict "--recover asks for the resolution"
tool "$dir/p.stf" --recover "$dir/p2.stf" --byte-order big --resolution 1us
expect tool "$dir/p2.stf" --dump
expect has 'CLKPERIOD 1e-06'
expect grep '^[0-9]' "$dir/out" >"$dir/got"
expect tool "$src/tests/golden/plain-big.stf" --dump
grep '^[0-9]' "$dir/out" | expect diff - "$dir/got" >"$dir/diff"
verdict "--recover with both"

# A single file that is longer than its components
tool "$rich" --convert "$dir/one.single.stf" && tool "$dir/one.single.stf" --verify && [ "$status" -eq 0 ] &&
	tail -c 40 "$dir/one.single.stf" >"$dir/tail" && cat "$dir/tail" >>"$dir/one.single.stf" &&
	tool "$dir/one.single.stf" --verify
expect_status 1
expect_line '40 bytes that belong to no component' "$dir/err"
verdict "--verify: bytes after the last component of a single file"

# The name of a component of a single file is damaged: what is written names all its components, and the command fails.
"$build/tests/cli/lib/make_stf" many "$dir/anchored.stf" 3000
tool "$dir/anchored.stf" --convert "$dir/name.single.stf"
LC_ALL=C sed '0,/^FILE [.]c[.]0[.]anc /s//FILE .c.0.alc /' "$dir/name.single.stf" >"$dir/alc.single.stf"
tool "$dir/alc.single.stf" --convert "$dir/alc.stf"
expect_status 1
expect_line 'c.0.anc is missing' "$dir/err"
expect tool "$dir/alc.stf" --verify
expect_status 0
verdict "--convert: a component that a single file does not name any more is an error, and the output is whole"

# A class with a parent that nobody declared costs this class, and no declaration or event after it.
copy "$src/tests/golden/plain-little.stf" "$dir/parent.stf"
tool "$dir/parent.stf" --dump && grep '^DEF\|^[0-9]' "$dir/out" >"$dir/whole" &&
	at=$(LC_ALL=C grep -obUaP '\x0c\x02\x00\x00\x00\x05\x00\x00\x00' "$dir/parent.stf.dcl" | cut -d: -f1) &&
	printf '\377\377\377\377' | dd of="$dir/parent.stf.dcl" bs=1 seek=$((at + 13)) conv=notrunc 2>/dev/null
tool "$dir/parent.stf" --dump
expect_status 1
expect_line 'class_definition: refers to what was not declared, parent (4294967295)' "$dir/err"
expect_lines 1 '^DEFCLASS 2 ' "$dir/whole"
expect grep -v '^DEFCLASS 2 ' "$dir/whole" >"$dir/want"
grep '^DEF\|^[0-9]' "$dir/out" | expect cmp -s - "$dir/want"
verdict "a declaration that refers to nothing costs itself alone"

# Eight times as many components or processes cost about eight times as much, not 64 times.
if "${PYTHON3:-python3}" -c 'import resource' 2>/dev/null; then
	processes() # processes N [PER_FILE]: a trace of one event in each of N processes
	{
		awk -v n="$1" 'BEGIN {
			printf "CLKPERIOD 1e-09\nNCPUS"
			for (i = 0; i < n; i++) printf " 1"
			print "\nDEFCLASS 1 \"P\" SELF \"P\" PARENT 0\nDEFFUNCTION 1 \"f\" CLASS 1"
			for (i = 1; i <= n; i++) print i, "ENTER CPU", i, "FUNCTION 1"
		}' >"$dir/processes.avt"
		n=$1
		shift
		from_text "$dir/processes.avt" "$dir/processes$n.stf" "$@"
	}
	linear() # linear NAME FEW MANY ARGUMENTS...
	{
		name=$1
		shift
		"${PYTHON3:-python3}" - "$build/stftool" "$dir/processes" "$@" >"$dir/out" 2>"$dir/err" <<'END'
import resource, subprocess, sys

def cpu(n):
    used = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.argv[1], f"{sys.argv[2]}{n}.stf"] + sys.argv[5:], stdout=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(used)

ratio = cpu(sys.argv[4]) / max(cpu(sys.argv[3]), 0.01)
print("# ratio %.1f" % ratio)
sys.exit(ratio > 24)
END
		status=$?
		cat "$dir/out"
		ok "$name" $status
	}
	processes 500 1
	processes 4000 1
	[ "$(find "$dir" -name 'processes4000.stf*' | wc -l)" -eq 4002 ]
	ok "a file for each of 4000 processes" $?
	linear "--verify takes time in proportion to the number of files" 500 4000 --verify
	processes 7500
	processes 60000
	tool "$dir/processes60000.stf" --dump --request 7
	[ "$(grep '^[0-9]' "$dir/out")" = '8 ENTER CPU 8 FUNCTION 1' ]
	ok "--request of one of 60000 processes" $?
	linear "and takes time in proportion to their number" 7500 60000 --dump --request 7
	rm -f "$dir"/processes*
	for n in 6000 48000; do
		awk -v n=$n 'BEGIN {
			print "CLKPERIOD 1e-09\nNCPUS 1 1\nDEFCLASS 1 \"P\" SELF \"P\" PARENT 0"
			for (i = 1; i <= n; i++) print "DEFCOUNTER", i,
			"\"c" i "\" CLASS 1 CPU 1 TYPE 67 DIFF 1 UNIT \"\" LOWER 0 UPPER 0"
			for (i = 1; i <= n; i++) print i, "SAMP CPU 1 DEF", i, "UINT 8", i
		}' >"$dir/counters.avt"
		from_text "$dir/counters.avt" "$dir/processes$n.stf"
	done
	linear "--print-counters takes time in proportion to the number of counters" 6000 48000 --print-counters
	rm -f "$dir"/processes* "$dir/counters.avt"
else
	skip "the time grows with the number of files" "no python3"
fi

# One cause is one line, however many records it has.
copy "$dir/long.stf" "$dir/bad.stf"
head -c $((34 + 29 * 10000)) "$dir/long.stf.c.0" >"$dir/bad.stf.c.0"
tool "$dir/bad.stf" --verify
expect_status 1
expect [ "$(wc -l <"$dir/err")" -le 8 ]
verdict "--verify: one line for each cause"
done_testing
