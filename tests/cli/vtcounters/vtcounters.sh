#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# vtcounters as its users run it: lists, JSON, snapshots, plugins, verdicts, and a PAPI that hangs.
# shellcheck source=../../lib/tap.sh source-path=SCRIPTDIR
. "$(dirname "$0")/../../lib/tap.sh"
vtcounters=$build/vtcounters
cc=${CC:-cc}
cd "$dir" || exit 99
# what the program was sanitized with must come first of all that is preloaded
first=$(ldd "$(find "$build/.libs" "$build" -maxdepth 1 -name vtcounters -type f 2>/dev/null | head -n 1)" 2>/dev/null |
	sed -n 's/^.* => \(.*lib[at]san[^ ]*\) .*/\1:/p')
# vtrun puts its library in front of that
ASAN_OPTIONS=verify_asan_link_order=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}
export ASAN_OPTIONS
# says NAME STATUS PATTERN COMMAND...: exit status, and a line that matches
says()
{
	name=$1 status=$2 pattern=$3
	shift 3
	timeout 300 "$@" >out 2>&1
	rc=$?
	[ $rc -eq "$status" ] && grep -q -- "$pattern" out && result "$name" "" && return
	result "$name" "status $rc, wanted $status and \"$pattern\": $(head -n 20 out)"
}

says "the list names the guide's five" 0 '^cpu_idle  *node  *percent' "$vtcounters"
for name in disk_io net_io cpu_idle cpu_sys cpu_usr; do
	# absent disks and interfaces are in the second part
	grep -qw "$name" out || result "the list names $name" "$(cat out)"
done
says "a cost is measured" 0 '^cpu_usr .*[0-9]\.[0-9][0-9] us' "$vtcounters" cpu_usr
says "instances on request" 0 '^cpu_usr:cpu0 ' "$vtcounters" 'cpu_usr:*'
says "what is missing has a reason" 0 'no interface eth99' "$vtcounters" net_io:eth99
says "a name that no source has" 1 'no source has' "$vtcounters" nonsense
says "a full standard output is an error" 1 'cannot write to standard output' sh -c '"$0" >/dev/full' "$vtcounters"
if "$vtcounters" 'PAPI_TOT_*' | grep -q 'this build has no PAPI'; then
	says "a pattern of PAPI's presets without PAPI" 1 'this build has no PAPI' "$vtcounters" 'PAPI_TOT_*'
else
	says "a pattern of PAPI's presets: they are listed, or the reason" 0 'PAPI_TOT_INS' "$vtcounters" 'PAPI_TOT_*'
fi
says "a pattern that nothing matches" 1 'no counter matches' "$vtcounters" 'nonsense*'
says "a wrong option" 2 'bogus' "$vtcounters" --bogus
says "a root that is not there" 2 '/nowhere' "$vtcounters" --root /nowhere
says "help" 0 '^Usage: vtcounters' "$vtcounters" --help

sh "$src/tests/proc/gather.sh" --unpack "$dir/snap" <"$src/tests/proc/two-sockets.snap"
says "another machine's snapshot" 0 '^disk_io:nvme0n1 ' "$vtcounters" --root snap 'disk_io:*'
sh "$src/tests/proc/gather.sh" >here.snap
sh "$src/tests/proc/gather.sh" --unpack "$dir/here" <here.snap
says "this machine's snapshot" 0 '^cpu_usr ' "$vtcounters" --root here cpu_usr

if "$vtcounters" --json cpu_usr >json 2>err; then
	says "JSON is JSON" 0 '^cpu_usr percent' "${PYTHON3:-python3}" -c '
import json
c = json.load(open("json"))["counters"][0]
print(c["name"], c["shown_unit"], c["read_us"] > 0)'
else
	skip "JSON is JSON" "$(cat err)"
fi

template=$build/tests/unit/.libs/plugin_template.so
says "a plugin's counters" 0 '^mine_reads ' "$vtcounters" --plugin "$template 7" 'mine_*'
says "a plugin's own reason" 0 'give a number' "$vtcounters" --plugin "$template" mine_level
says "vtrun lists them too" 0 '^mine_reads ' "$build/vtrun" --list --plugin "$template 7" --counter 'mine_*'
says "no plugin" 2 'no-such.so' "$vtcounters" --plugin ./no-such.so mine_level

says "loops of known size are counted" 0 '^proc_write  *accept  *1024 bytes per KiB' "$vtcounters" --validate proc_write
says "what others add is no fault" 0 '^node_faults  *accept .*and what others add' "$vtcounters" --validate node_faults
says "loopback bytes" 0 '^net_io:lo  *accept' "$vtcounters" --validate net_io:lo

# Why a kernel's event is missing, from what the kernel says: other machines' answers by a preloaded call, and seccomp
# itself.
if $cc -D_GNU_SOURCE -shared -fPIC -o says.so "$src/tests/lib/perf_says.c" 2>err && [ -z "${LD_PRELOAD:-}" ]; then
	hardware() # hardware NAME ERRNO PATTERN: what is printed of a hardware event that is refused so
	{
		PERF_SAYS=$2 LD_PRELOAD=$first$dir/says.so says "$1" 0 "$3" "$vtcounters" perf_cycles
	}
	hardware "held by somebody else" 16 'another program uses the counter'
	hardware "no such event" 2 'no PMU in this virtual machine\|this CPU, or its driver'
	hardware "not supported" 95 'no PMU in this virtual machine\|this CPU, or its driver'
	hardware "too many together" 28 'choose fewer events'
	hardware "too many files" 24 'ulimit -n'
	# all events refused by a kernel that has them
	PERF_SAYS=13 PERF_SAYS_SOFTWARE=13 LD_PRELOAD=$first$dir/says.so \
		says "all of them refused" 0 'refused\|perf_event_paranoid' "$vtcounters" perf_page_faults
	PERF_SAYS=nothing LD_PRELOAD=$first$dir/says.so \
		says "an event that counts nothing is refused" 1 '^perf_cycles  *REFUSE .*reads 0 in a loop' \
		"$vtcounters" --validate perf_cycles
	# events that take turns: 1000 counts in half of the time are 2000
	PERF_SAYS=turns LD_PRELOAD=$first$dir/says.so timeout 60 "$build/vtrun" --verbose 0 --sampler thread \
		--multiplex --counter perf_cycles -- sleep 0.3 >out 2>&1
	"$build/stftool" sleep.stf --print-counters --csv >counters 2>>out
	result "events that take turns are scaled, and their times recorded" "$(awk -F, '
		$2 ~ /^"perf_cycles/ { got[$2] = $15 + 0 }
		END {
			e = got["\"perf_cycles:enabled\""]
			if (e < 2000 || got["\"perf_cycles:running\""] * 2 != e || got["\"perf_cycles\""] != e) {
				print "scaled " got["\"perf_cycles\""] ", enabled " e ", running " '\
'got["\"perf_cycles:running\""]
			}
		}' counters; cat out)"
	# not asked for, no turns are taken
	PERF_SAYS=turns LD_PRELOAD=$first$dir/says.so says "turns only when asked for" 0 perf_cycles "$build/vtrun" \
		--list --counter perf_cycles
	grep -q 'perf_cycles:enabled' out && result "no times unasked" "$(cat out)"
	PERF_SAYS=turns LD_PRELOAD=$first$dir/says.so says "asked for, the times are listed too" 0 perf_cycles:running \
		"$build/vtrun" --list --multiplex --counter perf_cycles
else
	skip "why an event is missing" "no shared object could be made or preloaded: $(head -n 1 err)"
fi
if $cc -D_GNU_SOURCE -o filter "$src/tests/lib/perf_filter.c" 2>err && ./filter 1 true; then
	says "seccomp that refuses" 0 'seccomp' ./filter 1 "$vtcounters" perf_page_faults
	says "seccomp that hides" 0 'seccomp hides' ./filter 38 "$vtcounters" perf_page_faults
else
	skip "seccomp that refuses" "no seccomp here: $(head -n 1 err)"
fi

# PAPI: what hangs in initialisation is given up
if "$vtcounters" PAPI_TOT_INS 2>&1 | grep -q 'build has no PAPI'; then
	skip "a PAPI that hangs is given up" "this build has no PAPI"
	skip "PAPI is sought by the name of the version that this was built with" "this build has no PAPI"
	skip "a PAPI that the program has loaded is the one that is asked" "this build has no PAPI"
	skip "counters that lie are refused" "this build has no PAPI"
else
	mkdir fake
	{
		echo '#include <unistd.h>'
		echo 'int PAPI_library_init(int v) { (void)v; for (;;) pause(); }'
		sed -n '/define SMP_PAPI_CALLS/,/[^\\]$/p' "$src/sampler/sources/papi_lib.h" | grep -o 'X([a-z_]*)' |
			sed 's/X(\(.*\))/\1/' | grep -v '^library_init$' | sort -u |
			sed 's/.*/int PAPI_&(void) { return -1; }/'
	} | grep -v 'PAPI_X\|PAPI_(' >fake.c
	# each minor version of PAPI has a name of its own
	soname=$(readelf -d "$($cc -print-file-name=libpapi.so)" 2>err | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')
	if $cc -shared -fPIC -o "fake/$soname" fake.c 2>err; then
		LD_LIBRARY_PATH=$dir/fake says "a PAPI that hangs is given up" 0 'not ready after 2 s' "$vtcounters" \
			PAPI_TOT_INS
	else
		skip "a PAPI that hangs is given up" "$(head -n 1 err)"
	fi
	if [ -n "$soname" ] && LD_DEBUG=libs "$vtcounters" PAPI_TOT_INS 2>&1 |
		grep -o 'find library=libpapi[^ ]*' >debug; then
		[ "$(head -n 1 debug)" = "find library=$soname" ]
		ok "PAPI is sought by the name of the version that this was built with" $?
	else
		skip "PAPI is sought by the name of the version that this was built with" \
			"no LD_DEBUG or no libpapi.so here"
	fi
	sed 's/for (;;) pause();/return 9 << 24;/' fake.c >fake9.c
	if $cc -shared -fPIC -Wl,-soname,libpapi.so.9.0 -o fake/libpapi.so.9.0 fake9.c 2>err; then
		LD_PRELOAD=$first$dir/fake/libpapi.so.9.0 \
			says "a PAPI that the program has loaded is the one that is asked" 0 'of version 9\.0' \
			"$vtcounters" PAPI_TOT_INS
	else
		skip "a PAPI that the program has loaded is the one that is asked" "$(head -n 1 err)"
	fi
	# PAPI counts software events under the names of hardware ones: the loops must notice
	printf \
		'CPU,perf\nPRESET,PAPI_TOT_INS,NOT_DERIVED,perf::CPU-CLOCK\nPRESET,PAPI_TLB_DM,NOT_DERIVED,'\
'perf::PAGE-FAULTS\n' >events.csv
	if $cc -D_GNU_SOURCE -shared -fPIC -o swpmu.so "$src/tests/lib/swpmu.c" -Wl,--no-as-needed -lpfm 2>err; then
		PAPI_CSV_EVENT_FILE=$dir/events.csv LD_PRELOAD=$first$dir/swpmu.so \
			ASAN_OPTIONS=detect_leaks=0:$ASAN_OPTIONS \
			says "counters that lie are refused" 1 '^PAPI_TOT_INS  *REFUSE' "$vtcounters" \
			--validate PAPI_TOT_INS PAPI_TLB_DM
		grep -q '^PAPI_TLB_DM  *accept' out || result "those that count are not" "$(cat out)"
	else
		skip "counters that lie are refused" "$(head -n 1 err)"
	fi
fi
done_testing
