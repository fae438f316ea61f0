#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# tickmark-clockd and its readers. What NTP has told the kernel is made up (tests/lib/ntp_says.c): the clock that the
# server reads is off the true one by a known time, and so is the bound that it is told. TAP.
# shellcheck source=../../lib/tap.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/lib/tap.sh"
timertest=$build/timertestcs
clockd=$build/tickmark-clockd
san=$(printf '%s ' ${CFLAGS:-} | tr ' ' '\n' | grep '^-f.*sanitize' | tr '\n' ' ')
[ -z "$san" ] || skip_all "a library is preloaded, which the sanitizers do not like"
[ -e "$build/.libs/libtickmark-clock.so" ] || skip_all "no shared library in this build"
mkdir "$dir/tickmark" && cp "$src/include/clock.h" "$dir/tickmark/" && chmod 755 "$dir"
expect ${CC:-cc} -shared -fPIC -O2 "$src/tests/lib/ntp_says.c" -o "$dir/ntp_says.so" -ldl >"$dir/out" 2>&1
expect ${CC:-cc} -O2 -I"$dir" "$src/doc/clock/now.c" -o "$dir/now" -L"$build/.libs" \
	-ltickmark-clock -Wl,-rpath,"$build/.libs" >>"$dir/out" 2>&1
verdict "the example and what NTP says are compiled"
TICKMARK_CLOCK_DIR=$dir/pages
export TICKMARK_CLOCK_DIR

# the process is ours alone: a subshell would be between us and it
serve() # serve OFFSET_US BOUND_US [WORDS...]
{
	offset=$1 bound=$2
	shift 2
	rm -f "$dir/served"
	NTP_OFFSET_US=$offset NTP_BOUND_US=$bound LD_PRELOAD=$dir/ntp_says.so "$clockd" "$@" >"$dir/served" \
		2>"$dir/err" &
	server=$!
	tries=0
	until [ -s "$dir/served" ] || [ $tries -ge 600 ]; do
		kill -0 $server 2>/dev/null || break
		sleep 0.1
		tries=$((tries + 1))
	done
}

finish() # finish SIGNAL
{
	kill "-$1" $server 2>/dev/null
	wait $server 2>/dev/null
	served=$?
}

# inside N: of so many readings each contains the true time, which was read before and after it
inside()
{
	"$build/tests/lib/clock_reads" "$1" >"$dir/out" 2>&1
}

"$clockd" >"$dir/out" 2>"$dir/err"
rc=$?
if [ $rc -eq 2 ]; then
	grep -q 'not synchronised' "$dir/err"
	ok "without NTP it says so and does not start" $?
else
	skip "without NTP it says so and does not start" "this kernel's clock is kept by NTP"
fi
"$dir/now" utc >"$dir/out" 2>&1
expect test $? -eq 2
expect_line 'no page with UTC' "$dir/out"
verdict "without a server there is no clock"

for offset in 900 -900; do
	serve $offset 1000
	expect test -s "$dir/served"
	expect inside 100000
	verdict "a clock that is $offset us off with a bound of 1000 us: every reading contains the true time"
	NTP_OFFSET_US=$offset "$build/tests/lib/clockbound_reads" "$TICKMARK_CLOCK_DIR/clockbound" 100000 >"$dir/out" \
		2>&1
	ok "so does every reading of a client of the ClockBound segment" $?
	[ $offset = -900 ] || finish TERM
done
LD_PRELOAD=$dir/ntp_says.so NTP_BOUND_US=1 "$clockd" >"$dir/out" 2>"$dir/err"
expect test $? -eq 2
expect_line 'by another process' "$dir/err"
verdict "a second server on the node does not start"
od -An -v -t x4 "$TICKMARK_CLOCK_DIR/clockbound" | tr -d ' \n' | grep -q '^414d5a4e4342020000000050'
ok "the ClockBound segment is there" $?
expect test "$(od -An -t d4 -j 68 -N 4 "$TICKMARK_CLOCK_DIR/clockbound" | tr -d ' ')" = 1
expect test "$(od -An -t d8 -j 48 -N 8 "$TICKMARK_CLOCK_DIR/clockbound" | tr -d ' ')" -ge 1000000
verdict "its clock is synchronised, and its bound is not narrower than NTP's"
finish KILL
tries=0
until "$dir/now" utc >"$dir/out" 2>&1; grep -q '^first: stale' "$dir/out" || [ $tries -ge 300 ]; do
	tries=$((tries + 1))
	sleep 0.1
done
grep -q '^first: stale' "$dir/out"
ok "a killed server: stale" $?
tries=0
while "$build/tests/lib/clockbound_reads" "$TICKMARK_CLOCK_DIR/clockbound" 1 >"$dir/out" 2>&1 && [ $tries -lt 300 ]; do
	sleep 0.1
	tries=$((tries + 1))
done
grep -q '1 without an interval' "$dir/out"
ok "what it left says nothing to a client of ClockBound for longer than a page is valid" $?
serve 0 100
inside 1000
ok "a new server takes its place" $?
finish TERM
expect test $served -eq 0
expect test ! -e "$TICKMARK_CLOCK_DIR/utc"
expect test ! -e "$TICKMARK_CLOCK_DIR/clockbound"
verdict "SIGTERM ends it, and the pages are gone"
serve 0 100 --every 20ms
finish INT
test ! -e "$TICKMARK_CLOCK_DIR/utc"
ok "so does SIGINT" $?
NTP_SLEPT=$dir/slept
export NTP_SLEPT
serve 0 100 --every 20ms
test ! -s "$dir/err" && touch "$NTP_SLEPT"
expect wait_for 30 grep -q 'disrupted: the machine was suspended' "$dir/err"
expect kill -0 $server
verdict "a suspension is noticed by the server, too"
finish TERM
unset NTP_SLEPT
"$clockd" --reference ptp:/dev/nonexistent >"$dir/out" 2>"$dir/err"
expect test $? -eq 2
expect_line /dev/nonexistent "$dir/err"
verdict "a device that is not there is named"
"$timertest" --quiet --timer clock_monotonic --performance-time 20ms --output "$dir/file" 0.1 0 >"$dir/out" 2>&1
began=$(date +%s%N)
"$dir/now" "$dir/file.clk" >"$dir/first" 2>&1
sleep 0.5
"$dir/now" "$dir/file.clk" >"$dir/second" 2>&1
passed=$(($(date +%s%N) - began))
cat "$dir/first" "$dir/second" >"$dir/out"
awk -v passed=$passed '/^first:/ { at[n++] = $2 } END { exit n != 2 || at[1] - at[0] < 5e8 ||
	at[1] - at[0] > passed }' "$dir/first" "$dir/second"
ok "the clock of a .clk file" $?
# in a container /proc/sys may be hidden: the boot of the file and that of now are unknown, and so not equal
sed 's/^boot-id .*/boot-id ""/' "$dir/file.clk" >"$dir/hidden.clk"
if unshare -m sh -c "mount --make-rprivate / && mount -t tmpfs none /proc/sys" 2>/dev/null; then
	unshare -m sh -c 'mount --make-rprivate / && mount -t tmpfs none /proc/sys && "$0" "$1"' "$dir/now" \
		"$dir/hidden.clk" >"$dir/out" 2>&1
	expect [ $? -eq 2 ]
	expect_line 'boot id of .* cannot be read' "$dir/out"
	verdict "a .clk file of an unknown boot is not used where the boot is unknown"
else
	skip "a .clk file where the boot is unknown" "no permission to mount"
fi
for option in --serve --serve-every=1s; do
	"$timertest" $option >"$dir/out" 2>"$dir/err"
	expect [ $? -eq 2 ]
	expect_line "^timertestcs: $option: the program tickmark-clockd keeps the page of UTC" "$dir/err"
	expect_empty "$dir/out"
	verdict "timertest $option names the program"
done
"$clockd" --every 1h >"$dir/out" 2>"$dir/err"
expect [ $? -eq 2 ]
expect_line "^tickmark-clockd: --every: '1h' is not" "$dir/err"
expect_empty "$dir/out"
verdict "a wrong option ends it"
chmod 777 "$TICKMARK_CLOCK_DIR"
LD_PRELOAD=$dir/ntp_says.so NTP_BOUND_US=1 "$clockd" >"$dir/out" 2>"$dir/err"
expect test $? -eq 2
expect_line 'writable only by that user' "$dir/err"
verdict "a folder that others may write is not used"
done_testing
