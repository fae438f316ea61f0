#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Interfaces, disks and CPUs that come and go, or come late, while a program is sampled, and a machine that was asleep:
# the program ends as always, the trace is valid, no count jumps, and what was moved is there to the byte. Namespaces
# keep it apart from
# this machine; CPUs are switched off in a copy of /proc/stat, with what a real one showed, and the sleep is that of one
# clock. TAP.
. "${top_srcdir:-.}/tests/preload/lib.sh"
devices=$build/tests/preload/programs/devices
VT_VERBOSE=0
VT_OS_COUNTER_DELAY=50ms VT_SAMPLE_PERIOD=50ms
export VT_VERBOSE VT_OS_COUNTER_DELAY VT_SAMPLE_PERIOD

apart() # apart COMMAND...: in namespaces of its own, with its own /sys
{
	unshare --net --mount sh -c 'mount -t sysfs none /sys && "$@"' sh "$@"
}

# moved COUNTER N: between its least and its greatest record lies N
moved()
{
	"$build/stftool" "$trace" --print-counters --csv >"$dir/verify" 2>&1
	awk -F, -v name="\"$1\"" -v want="$2" '$2 == name { got = $15 - $14; found = 1 }
		END { if (!found || got != want + 0) { print name ": " got ", " want " were moved"; exit 1 }
		}' "$dir/verify" >"$dir/diff"
}

# total COUNTER N: its greatest record is N
total()
{
	"$build/stftool" "$trace" --print-counters --csv >"$dir/verify" 2>&1
	awk -F, -v name="\"$1\"" -v want="$2" '$2 == name { got = $15 + 0; found = 1 }
		END { if (!found || got != want + 0) { print name ": " got ", " want " were moved"; exit 1 }
		}' "$dir/verify" >"$dir/diff"
}

noted() # noted TEXT: it is in the trace as a comment
{
	"$build/stftool" "$trace" --dump 2>&1 | grep -q "$1" || { echo "no comment: $1" >"$dir/diff"; false; }
}

# For the programs: waits until the sampler process has slept several times more, so that it has read what is there now.
cat >"$dir/ticked.sh" <<'END'
slept() # how often the sampler process has given up its CPU
{
	sampler=
	while [ -z "$sampler" ]; do
		sampler=$(sed -n 's/^INFO SAMPLED by process //p' ./*.prot 2>/dev/null) || sleep 0.01
	done
	sed -n 's/^voluntary_ctxt_switches:[^0-9]*//p' "/proc/$sampler/status"
}
ticked()
{
	begin=$(slept) tries=0
	while [ "$(slept)" -lt "$((${begin:-0} + 6))" ] && [ "$tries" -lt 300 ]; do
		tries=$((tries + 1))
		sleep 0.05
	done 2>/dev/null
}
# Who came is looked for once a second.
looked() { sleep 1.1; ticked; }
END

part() # part NAME: a folder, which becomes the current one; its program is started beside the others and judged below
{
	mkdir "$dir/$1"
	cd "$dir/$1" || exit 99
}

started() # started COMMAND...: its output, its messages and its exit status are in the current folder
{
	("$@" >out 2>err </dev/null; echo $? >status) &
}

judge() # judge NAME TRACE: of part NAME, when all have ended
{
	cd "$dir/$1" || exit 99
	trace=$2
	cp out err "$dir" 2>/dev/null
}

ended() # ended TEXT: with this output, and well
{
	[ "$(cat status)" = 0 ] && [ "$(cat out)" = "$1" ]
}

# ---- interfaces ----

part net
cat >pair.sh <<'END'
# The kernel drops frames until its own work has made both ends ready, which under load takes a while; whoever gets the
# lock of the links that follow finds them so.
pair()
{
	ip link add "$1" type veth peer name "$2" && ip link set "$1" up && ip link set "$2" up || return
	tries=0
	until [ "$(cat "/sys/class/net/$1/operstate" "/sys/class/net/$2/operstate")" = "up
up" ] || [ "$tries" -ge 200 ]; do
		tries=$((tries + 1))
		sleep 0.05
	done
	ip link set "$1" up && ip link set "$2" up
}
END
cat >links.sh <<'END'
set -e
. "$2"
. ./pair.sh
frames=$1
ticked
"$frames" frames v0 100 1000
pair v2 v3
"$frames" frames v2 50 1000
looked
"$frames" frames v2 10 1000
ticked
ip link del v2
ticked
"$frames" frames v0 10 1000
pair v2 v3
# not every kernel has these
ip link add b0 type bridge || :
ip tuntap add t0 mode tap || :
"$frames" frames v2 5 1000
looked
ip link del t0 || :
ip link del b0 || :
echo moved
END
cat >net.sh <<'END'
echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6
. ./pair.sh
pair v0 v1 || exit 77
exec "$@"
END
if apart sh net.sh true 2>/dev/null; then
	started apart sh net.sh "$build/vtrun" --counter net_io --counter 'net_tx:v*' --counter 'net_rx:v1' \
		--counter 'net_rx:v3' -- sh links.sh "$devices" "$dir/ticked.sh"
fi

# no interface at all when the program begins
part bare
cat >bare.sh <<'END'
set -e
. "$2"
. ../net/pair.sh
ticked
pair v4 v5
"$1" frames v4 50 1000
looked
"$1" frames v4 10 1000
ticked
echo moved
END
if apart ip link add v4 type veth peer name v5 2>/dev/null; then
	started apart \
		sh \
		-c \
		'echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6; echo 1 '\
'>/proc/sys/net/ipv6/conf/default/disable_ipv6; exec "$@"' sh \
		"$build/vtrun" --counter net_io -- sh bare.sh "$devices" "$dir/ticked.sh"
fi

# ---- disks ----

part disk
number=$((2000 + $$ % 1000))
truncate -s 4M backing
cat >disk.sh <<'END'
set -e
. "$3"
devices=$1 number=$2
write() { dd if=/dev/zero of=/dev/loop$number bs=64k count="$1" oflag=direct 2>/dev/null; }
ticked
write 16
ticked
"$devices" loop-remove "$number"
ticked
"$devices" loop-add "$number" backing
write 8
looked
echo written
END
if "$devices" loop-add "$number" backing 2>why && [ -b "/dev/loop$number" ]; then
	trap '"$devices" loop-remove "$number" 2>/dev/null; rm -rf "$dir"' EXIT
	started "$build/vtrun" --counter disk_io --counter "disk_write:loop$number" -- sh disk.sh "$devices" "$number" \
		"$dir/ticked.sh"
fi

# ---- CPUs ----

# What Linux 6.18 shows when the second of two CPUs is switched off: its idle time changes by what two accounts of the
# kernel differ in, and changes back later.
part cpu
cat >cpu.sh <<'END'
. "$1"
show() # show TICKS-OF-IDLE LINE-OF-CPU-1: in place, always as long
{
	printf '%-150s\n%-150s\n%-150s\nintr 5\n' \
		"cpu  100 0 50 $1 0 0 0 0 0 0" "cpu0 50 0 25 100000 0 0 0 0 0 0" "$2" 1<>stat
}
ticked
show 200010 "cpu1 50 0 25 100010 0 0 0 0 0 0"
ticked
show 300020 "intr 5"
ticked
show 300030 "intr 5"
ticked
show 200030 "cpu1 50 0 25 100011 0 0 0 0 0 0"
ticked
show 200050 "cpu1 50 0 25 100021 0 0 0 0 0 0"
ticked
echo off and on
END
printf '%-150s\n%-150s\n%-150s\nintr 5\n' "cpu  100 0 50 200000 0 0 0 0 0 0" "cpu0 50 0 25 100000 0 0 0 0 0 0" \
	"cpu1 50 0 25 100000 0 0 0 0 0 0" >stat
if unshare --mount sh -c 'mount --bind stat /proc/stat' 2>/dev/null; then
	started unshare --mount sh -c 'mount --bind stat /proc/stat && exec "$@"' sh "$build/vtrun" \
		--counter 'cpu_idle' --counter 'cpu_idle:cpu1' \
		-- sh cpu.sh "$dir/ticked.sh"
fi

# ---- asleep ----
# The clock that jumps is loaded into the program, so the sampler must be there, too.

part asleep
if ${CC:-cc} -D_GNU_SOURCE -DPIC_SUSPENDED -shared -fPIC -o asleep.so "$src/tests/preload/programs/devices.c" \
	2>why; then
	started env LD_PRELOAD="$PWD/asleep.so${LD_PRELOAD:+:$LD_PRELOAD}" SUSPENDED=7 "$build/vtrun" --sampler thread \
		-- sleep 1.5
fi

# ---- what became of them ----

wait
judge net sh.stf
if [ -e status ]; then
	ended moved
	ok "frames over interfaces that come and go" $?
	valid "$trace"
	ok "a valid trace" $?
	# both ends of a pair count: 2 x (100 + 60 + 10 + 5) kB
	expect moved net_io 350000
	expect moved net_tx:v0 110000
	expect moved net_rx:v1 110000
	verdict "each byte once"
	# of the one that came, by a pattern and by a name that nobody had: 50 + 10 + 5
	expect total net_tx:v2 65000
	expect total net_rx:v3 65000
	verdict "who comes has counters of its own"
	noted 'counter net_io: goes on from a new start'
	ok "it is noted" $?
else
	for t in "frames over interfaces that come and go" "a valid trace" "each byte once" \
		"who comes has counters of its own" "it is noted"; do
		skip "$t" "no right to make namespaces and virtual interfaces"
	done
fi

judge bare sh.stf
if [ -e status ]; then
	ended moved
	ok "no interface at the start" $?
	valid "$trace"
	ok "a valid trace" $?
	total net_io 120000
	ok "what comes is counted to the byte" $?
else
	for t in "no interface at the start" "a valid trace" "what comes is counted to the byte"; do
		skip "$t" "no right to make namespaces and virtual interfaces"
	done
fi

judge disk sh.stf
if [ -e status ]; then
	ended written
	ok "writing to a disk that goes and comes" $?
	valid "$trace"
	ok "a valid trace" $?
	moved "disk_write:loop$number" $((24 * 65536))
	ok "each byte once" $?
	noted "counter disk_write:loop$number: goes on from a new start"
	ok "it is noted" $?
else
	for t in "writing to a disk that goes and comes" "a valid trace" "each byte once" "it is noted"; do
		skip "$t" "no right to make a loop device: $(head -n 1 why)"
	done
fi

judge cpu sh.stf
if [ -e status ]; then
	ended "off and on"
	ok "CPUs that are switched off" $?
	valid "$trace"
	ok "a valid trace" $?
	# 10 before, 10 while it was off, 20 after; what came with the switching is no time. The CPU that was left
	# counts twice meanwhile: the percents are of two.
	expect moved cpu_idle 50
	expect moved cpu_idle:cpu1 21
	verdict "no jump of the idle time"
else
	for t in "CPUs that are switched off" "a valid trace" "no jump of the idle time"; do
		skip "$t" "no right to mount a copy of /proc/stat"
	done
fi

judge asleep sleep.stf
if [ -e status ]; then
	expect ended ""
	expect valid "$trace"
	expect noted 'the machine was suspended for 7\.0[0-9]* s'
	verdict "a machine that was asleep: noted"
	"$build/stftool" "$trace" --dump 2>&1 | grep -c suspended >"$dir/diff"
	[ "$(cat "$dir/diff")" -eq 1 ]
	ok "once" $?
else
	skip "a machine that was asleep: noted" "$(head -n 1 why)"
fi
done_testing
