#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Foreign programs (foreign.list) with and without vtrun: the same output, error output, exit status, descriptors,
# signal handling and
# number of threads, and a trace. Every FOREIGN_EACH-th of them from the FOREIGN_FROM-th on; 1 runs all, as
# tests/ci/series/preload.sh does.
# What two runs without vtrun do not agree about is not compared; the last line counts that. TAP.
. "${top_srcdir:-.}/tests/preload/lib.sh"
each=${FOREIGN_EACH:-5} from=${FOREIGN_FROM:-1}
. "$src/tests/lib/launcher.sh"
VT_VERBOSE=0 VT_FORCE=on VT_LOGFILE_PREFIX=$dir/traces
export VT_VERBOSE VT_FORCE VT_LOGFILE_PREFIX
probe=
if [ -z "$sanitizer" ] && ${CC:-cc} -shared -fPIC -O1 -o "$dir/probe.so" "$src/tests/preload/programs/probe.c" \
	2>"$dir/diff"; then
	probe=$dir/probe.so
fi

# files that the programs read
mkdir "$dir/data"
seq 1 3000 >"$dir/data/numbers"
printf 'pear 3\napple 12\nfig 7\nÄpfel 2\n' >"$dir/data/fruit"
printf '#include <stdio.h>\nint main(void)\n{\n\tputs("hello");\n\treturn 3;\n}\n' >"$dir/data/hello.c"
printf 'all: one two\none two:\n\t@echo $@\n' >"$dir/data/Makefile"

once() # once KIND SNIPPET: in a fresh folder with the files; leaves KIND.out, .err, .status and .probe
{
	fresh
	cp "$dir"/data/* .
	rm -f "$dir/$1.probe"
	(
		if [ -n "$probe" ]; then
			LD_PRELOAD=$probe PROBE_TO=$dir/$1.probe
			export LD_PRELOAD PROBE_TO
		fi
		export run
		timeout -k 5 120 sh -c "$2"
	) >"$dir/$1.out" 2>"$dir/$1.err" </dev/null
	echo $? >"$dir/$1.status"
	sort "$dir/$1.probe" 2>/dev/null | sed "s,${build%/*},,g" >"$dir/$1.sorted"
	mv "$dir/$1.sorted" "$dir/$1.probe"
}

n=0 compared=0 unlike=0 ran=0
while IFS='	' read -r name needs snippet; do
	case $name in '' | '#'*) continue ;; esac
	n=$((n + 1))
	[ $((n % each)) -eq $((from % each)) ] || continue
	missing=
	for tool in $needs; do
		command -v "$tool" >/dev/null || missing="$missing $tool"
	done
	if [ -n "$missing" ]; then
		skip "$name" "not installed:$missing"
		continue
	fi
	rm -rf "$dir/traces"
	mkdir "$dir/traces"
	run=
	once plain "$snippet"
	run="$build/vtrun --verbose 0 --"
	once with "$snippet"
	run=
	once again "$snippet"
	rc=0
	for what in out err status probe; do
		if cmp -s "$dir/plain.$what" "$dir/again.$what"; then
			compared=$((compared + 1))
			diff "$dir/plain.$what" "$dir/with.$what" >>"$dir/diff" ||
				{ rc=1; echo "^ $what" >>"$dir/diff"; }
		else
			unlike=$((unlike + 1))
			[ $what != status ] || { rc=1
				echo "the status of two runs without vtrun differs: not a program for this \
list" >>"$dir/diff"; }
		fi
	done
	ran=$((ran + 1))
	# a trace for what can be recorded: the sampler writes it when the program is killed, too
	tries=0
	until ls "$dir"/traces/*.stf >/dev/null 2>&1 || [ $tries -ge 600 ]; do
		tries=$((tries + 1))
		sleep 0.1
	done
	[ $tries -lt 600 ] || { rc=1; echo "no trace" >>"$dir/diff"; }
	[ $rc -eq 0 ]
	ok "$name" $?
done <"$src/tests/preload/foreign.list"
echo "# $ran programs; $compared comparisons; $unlike not made, since two runs without vtrun differ"
expect [ "$n" -ge 80 ]
expect [ "$ran" -gt 0 ]
expect [ "$unlike" -lt "$compared" ]
verdict "the list has $n programs, and most can be compared"
done_testing
