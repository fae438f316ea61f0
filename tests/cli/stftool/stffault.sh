#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# stftool where memory, writes and renames fail, at the first call, the second, and so on (EVERY_FAULT=1: all of them);
# where files may not grow; where nobody reads. It says so and leaves nothing half, or it does what it should. TAP.
# shellcheck disable=SC1091,SC2154
. "${top_srcdir:-.}/tests/cli/lib/toollib.sh"

# shellcheck disable=SC2086
if ! ${CC:-cc} -shared -fPIC -o "$dir/failnth.so" "$src/tests/cli/lib/failnth.c" -ldl 2>"$dir/err" ||
	! FAIL_COUNT=$dir/count LD_PRELOAD=$dir/failnth.so "$build/stftool" --version >"$dir/out" 2>"$dir/err" ||
	[ ! -s "$dir/count" ]; then
	# a blank in the path of scratch files, say: LD_PRELOAD has no way to quote it
	skip "calls that fail" "a library cannot be preloaded into this build: $(head -n 1 "$dir/err")"
	done_testing
fi
# scratch files of its own: what others leave in /tmp is not judged
mkdir "$dir/o" "$dir/tmp"
TMPDIR=$dir/tmp
export TMPDIR

# all KIND RESULT ARGUMENTS...: each call of that kind in turn. A good end has the result that it has without faults.
all()
{
	kind=$1 result=$2
	shift 2
	shown=$(echo "$*" | sed "s|$dir/||g")
	rm -rf "$dir/o" && mkdir "$dir/o"
	if ! FAIL_WHAT=$kind FAIL_COUNT=$dir/count LD_PRELOAD=$dir/failnth.so "$build/stftool" "$@" >"$dir/good.out" \
		2>"$dir/err" \
		</dev/null; then
		ok "$kind: stftool $shown works" 1
		return
	fi
	calls=$(cat "$dir/count")
	[ "$result" = - ] || (cd "$dir/o" && cat ./*) >"$dir/good.files"
	first=1 wrong='' step=1
	# here some, with `make check-long` all; or each of the last ones
	[ -n "${EVERY_FAULT:-}" ] || step=$((1 + calls / 12))
	[ "$last" -eq 0 ] || [ "$last" -ge "$calls" ] || first=$((calls + 1 - last)) step=1
	n=$first
	while [ "$n" -le "$calls" ]; do
		for on in $later; do
			rm -rf "$dir/o" && mkdir "$dir/o"
			unset FAIL_ON
			[ "$on" = works ] || export FAIL_ON=1
			timeout 300 env FAIL_WHAT="$kind" FAIL_NTH="$n" LD_PRELOAD="$dir/failnth.so" "$build/stftool" \
				"$@" >"$dir/out" \
				2>"$dir/err" </dev/null
			status=$?
			if [ "$status" -eq 0 ]; then
				# without memory for its text --json may not lie either
				cmp "$dir/good.out" "$dir/out" >"$dir/diff" || wrong="$wrong $n:other-output"
				[ "$result" = - ] ||
					(cd "$dir/o" && cat ./*) | cmp - "$dir/good.files" >"$dir/diff" ||
					wrong="$wrong $n:other-files"
			elif [ "$status" -gt 2 ] || [ ! -s "$dir/err" ]; then
				wrong="$wrong $n:status-$status"
			elif [ -n "$(ls "$dir/o")" ]; then
				# whole, and only the check of it failed
				grep -q 'it was written, but' "$dir/err" &&
					(cd "$dir/o" && cat ./*) | cmp - "$dir/good.files" >"$dir/diff" ||
					wrong="$wrong $n:files-left"
			fi
		done
		n=$((n + step))
	done
	unset FAIL_ON
	expect [ -z "$wrong" ]
	expect [ "$calls" -gt 0 ]
	verdict "$kind fails, calls $first to $calls by $step: stftool $shown$wrong"
}

# what the calls after it do, and how many calls from the last one backward
later='works fails' last=0
all malloc - "$dir/one.stf" --dump
all malloc - "$dir/one.stf" --verify
all malloc - "$dir/one.stf" --print-threads --print-counters --print-clock --print-files --csv
all malloc o "$dir/one.stf" --convert "$dir/o/x.stf"
all malloc o "$dir/one.stf" --convert "$dir/o/x.single.stf"
all malloc o "$dir/one.stf" --convert "$dir/o/x.stf" --stf-procs-per-file 1
all malloc o "$dir/one.stf" --request FUNCTIONS 0 --logfile-name "$dir/o/x.stf"
all malloc o "$dir/one.stf" --recover "$dir/o/x.stf"
# collective operations, which are taken apart
from_text "$src/tests/cli/stftool/coll.avt" "$dir/coll.stf"
all malloc - "$dir/coll.stf" --dump
# its columns are made last; without any memory its folder cannot be emptied
later=works last=80
all malloc o "$dir/one.stf" --convert "$dir/o/x.parquet"
later='works fails' last=0
for k in write rename; do
	all $k o "$dir/one.stf" --convert "$dir/o/x.stf" --stf-procs-per-file 1
	all $k o "$dir/one.stf" --recover "$dir/o/x.stf"
done
all rename o "$dir/one.stf" --convert "$dir/o/x.stf"
all rename o "$dir/one.stf" --convert "$dir/o/x.single.stf"

# --move and --remove: each of their renames fails, the trace is whole where it was
moved() # whole NAME: the trace is there with all components and nothing else
{
	tool "$1" --verify
	[ "$status" -eq 0 ] && [ "$(ls "$dir/o" | wc -l)" -eq "$(ls "$dir"/one.stf* | wc -l)" ]
}
for kind in rename malloc; do
	wrong='' n=1 calls=5 step=1
	if [ "$kind" = malloc ]; then
		calls=200
		[ -n "${EVERY_FAULT:-}" ] || step=17
	fi
	while [ "$n" -le "$calls" ]; do
		rm -rf "$dir/o" && mkdir "$dir/o"
		for f in "$dir"/one.stf*; do
			cp "$f" "$dir/o/a.stf${f#"$dir/one.stf"}"
		done
		if FAIL_WHAT=$kind FAIL_NTH=$n LD_PRELOAD=$dir/failnth.so "$build/stftool" "$dir/o/a.stf" \
			--move "$dir/o/b.stf" \
			>"$dir/out" 2>"$dir/said"; then
			moved "$dir/o/b.stf" || wrong="$wrong $n"
		else
			moved "$dir/o/a.stf" && [ -s "$dir/said" ] || wrong="$wrong $n"
		fi
		n=$((n + step))
	done
	[ -z "$wrong" ]
	ok "--move: a $kind fails, the trace is whole at one of the two places$wrong" $?
done

# files that may not grow: no signal may end it
for name in x.stf x.avt x.single.stf; do
	"$build/tests/cli/lib/make_stf" many "$dir/many.stf" 3000
	rm -rf "$dir/o" && mkdir "$dir/o"
	(ulimit -f 8 && exec "$build/stftool" "$dir/many.stf" --convert "$dir/o/$name") >"$dir/out" 2>"$dir/err"
	expect [ $? -eq 1 ]
	expect_line 'File too large' "$dir/err"
	expect [ -z "$(ls "$dir/o")" ]
	verdict "a limit of the file size, $name: said, and nothing half is left"
done

# nobody reads what it prints
for how in --dump --print-counters "--convert - --logfile-format SINGLESTF"; do
	# shellcheck disable=SC2086
	{ "$build/stftool" "$dir/many.stf" $how 2>"$dir/err"; echo $? >"$dir/status"; } | true
	read -r status <"$dir/status"
	# ended by SIGPIPE, as every program in a pipe, or printed before the reader was gone
	case $status in 0 | 1 | 141) true ;; *) false ;; esac
	ok "nobody reads the output: stftool $how" $?
	(trap '' PIPE && { "$build/stftool" "$dir/many.stf" $how 2>"$dir/err"; echo $? >"$dir/status"; }) | sleep 0
	read -r status <"$dir/status"
	[ "$status" -le 1 ]
	ok "nobody reads, and SIGPIPE is ignored: stftool $how" $?
	"$build/stftool" "$dir/many.stf" $how >&- 2>"$dir/err"
	expect [ $? -eq 1 ]
	expect_line '^stftool: ' "$dir/err"
	verdict "standard output is closed: stftool $how"
done
[ -z "$(ls "$TMPDIR")" ]
ok "no scratch files are left" $?
done_testing
