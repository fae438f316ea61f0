# shellcheck shell=sh
# SPDX-License-Identifier: BSD-3-Clause
# What the tests of the preloaded library share; to be sourced. TAP.
# shellcheck source=../lib/tap.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/lib/tap.sh"
unset LD_PRELOAD TICKMARK_RUN
sanitizer=$(sanitizer_of libVTcs.so)
if [ -n "$sanitizer" ]; then
	LD_PRELOAD=$sanitizer
	# what a program does not free before it is killed, or exits in a thread, is its own affair; its signals are,
	# too
	ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0:handle_segv=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}
	export LD_PRELOAD ASAN_OPTIONS
fi

fresh() # an empty folder, which becomes the current one
{
	cd "$dir" || exit 99
	rm -rf run
	mkdir run
	cd run || exit 99
}

# made NAME [FLAG...]: $dir/NAME is tests/preload/programs/NAME.c, compiled; of ROOM/NAME it is $dir/NAME, too.
# tests/house/programs.sh looks for the warnings.
made()
{
	made_of=$1
	shift
	${CC:-cc} -o "$dir/${made_of##*/}" "$src/tests/preload/programs/$made_of.c" "$@" >"$dir/diff" 2>&1
}

made_library() # made_library NAME [FLAG...]: $dir/NAME.so, to be preloaded
{
	made_of=$1
	shift
	${CC:-cc} -shared -fPIC -o "$dir/${made_of##*/}.so" "$src/tests/preload/programs/$made_of.c" "$@" \
		>"$dir/diff" 2>&1
}

sampled() # sampled COMMAND...: under vtrun, with $options; output in $dir/out and $dir/err, exit status in $status
{
	# shellcheck disable=SC2086
	timeout -k 10 300 "$build/vtrun" ${options:-} -- "$@" >"$dir/out" 2>"$dir/err" </dev/null
	status=$?
}

# valid TRACE: --verify finds no fault, the sampler's own counters are in it, and it has used none to all of a core.
valid()
{
	"$build/stftool" "$1" --verify >"$dir/verify" 2>&1 &&
		"$build/stftool" "$1" --print-counters >"$dir/counters" 2>>"$dir/verify" &&
		awk '$2 == "sampler_cpu" { n++; if ($NF != "unknown" && ($(NF - 2) < 0 || $NF > 100)) {
		print "sampler_cpu: " $(NF - 2) " to " $NF " percent"; bad = 1 } }
			END { exit bad || !n }' "$dir/counters" >>"$dir/verify"
}

appears() # appears FILE: waits for it, a minute at most
{
	wait_for 60 [ -e "$1" ]
}

# trace_complete TRACE: waits until the sampler process has made it of the raw files, a minute at most
trace_complete()
{
	wait_for 60 [ -e "$1" ] || return 1
	wait_for 60 no_raw_files || {
		ls .VT-flush-* >"$dir/verify" 2>&1
		return 1
	}
}

merged() # merged TRACE: what is left in raw files makes a valid trace
{
	ls .VT-flush-*.raw >"$dir/verify" 2>&1 && "$build/stftool" .VT-flush-*.raw --merge "$1" >"$dir/verify" 2>&1 &&
		valid "$1"
}
