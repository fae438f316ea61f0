#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# cpu, disk, net and memory against sar over the same ten seconds, under load: within 2 percent. And against the
# kernel's own totals, read here before and after: theirs enclose ours.
# With top_builddir it takes the program of that build, else it makes one.
given=${top_builddir:-}
# shellcheck source=../lib/lib.sh source-path=SCRIPTDIR
. "$(dirname "$0")/../lib/lib.sh"
seconds=10
if ! command -v sar >/dev/null; then
	echo "sar is not installed (Debian: sysstat)"
	exit 77
fi
if [ -n "$given" ]; then
	counters_over=$given/tests/lib/counters_over
else
	configured "sar"
	step "sar: make" make -j"$jobs" tests/lib/counters_over
	counters_over=$PWD/tests/lib/counters_over
fi
load=
# shellcheck disable=SC2329
clean()
{
	# shellcheck disable=SC2086
	[ -z "$load" ] || kill $load 2>/dev/null
	wait 2>/dev/null
	chmod -R u+w "$work"
	rm -rf "$work"
}
trap clean EXIT

# a third of a CPU, steady writing, steady loopback traffic
(while :; do i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done; sleep 0.05; done) &
load="$load $!"
(while :; do dd if=/dev/zero of="$work/file" bs=1M count=8 oflag=dsync conv=notrunc 2>/dev/null; sleep 0.05; done) &
load="$load $!"
"${PYTHON3:-python3}" -c '
import socket, time
a = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); a.bind(("127.0.0.1", 0))
b = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
while True:
    for i in range(100):
        b.sendto(bytes(8000), a.getsockname()); a.recv(9000)
    time.sleep(0.02)' &
load="$load $!"
sleep 1

disk=$(cd /sys/block && for d in */device; do echo "${d%/device}"; break; done)
totals() { awk '/^cpu /{print $2 + $3, $4, $5}' /proc/stat; awk '{print $3 + $7}' "/sys/block/$disk/stat"; }
totals >"$work/outer"
LC_ALL=C sar -u ALL -d -p -n DEV -r $seconds 1 >"$work/sar" 2>&1 &
sar=$!
"$counters_over" $seconds 'cpu_* on' "disk_write:$disk" net_rx:lo net_tx:lo mem_free mem_available "disk_io:$disk" \
	>"$work/ours"
wait $sar
totals >>"$work/outer"

awk -v disk="$disk" '
	FILENAME ~ /ours$/ { diff[$1] = $2; last[$1] = $3; next }
	!/^Average:/ { next }
	/ (%usr|kbmemfree|DEV|IFACE)/ { split("", col); for (i = 2; i <= NF; i++) { col[$i] = i }; next }
	("%usr" in col) && $2 == "all" { sar["cpu_usr"] = $(col["%usr"]) + $(col["%nice"]);
	sar["cpu_sys"] = $(col["%sys"]); sar["cpu_idle"] = $(col["%idle"]) }
	("DEV" in col) && $(col["DEV"]) == disk { sar["disk_write:" disk] = $(col["wkB/s"]) }
	("IFACE" in col) && $(col["IFACE"]) == "lo" { sar["net_rx:lo"] = $(col["rxkB/s"]);
	sar["net_tx:lo"] = $(col["txkB/s"]) }
	"kbavail" in col { sar["mem_available"] = $(col["kbavail"]) }
	function check(name, ours, off) {
		n++
		if (!(name in sar)) { printf "not ok %d - %s: sar shows none\n", n, name; bad = 1; return }
		off = sar[name] ? ours / sar[name] - 1 : ours
		ok = off < 0.02 && off > -0.02 || (name ~ /^cpu/ && ours - sar[name] < 0.5 && sar[name] - ours < 0.5)
		printf "%sok %d - %s: %.2f, sar %.2f, %+.2f %%\n", ok ? "" : "not ", n, name, ours, sar[name], 100 * off
		bad += !ok
	}
	END {
		all = diff["cpu_usr"] + diff["cpu_sys"] + diff["cpu_idle"] + diff["cpu_iowait"] + diff["cpu_irq"] + '\
'diff["cpu_steal"]
		check("cpu_usr", 100 * diff["cpu_usr"] / all)
		check("cpu_sys", 100 * diff["cpu_sys"] / all)
		check("cpu_idle", 100 * diff["cpu_idle"] / all)
		check("disk_write:" disk, diff["disk_write:" disk] / 1024 / diff["seconds"])
		check("net_rx:lo", diff["net_rx:lo"] / 1024 / diff["seconds"])
		check("net_tx:lo", diff["net_tx:lo"] / 1024 / diff["seconds"])
		check("mem_available", last["mem_available"] / 1024)
		printf "# all CPU time: %d ticks in %.2f s\n", all, diff["seconds"]
		exit bad != 0
	}' "$work/ours" "$work/sar" >"$work/tap"
rc=$?
cat "$work/tap"
[ $rc -eq 0 ] || sed 's/^/# /' "$work/sar"

# the totals outside: before <= ours at the end <= after
paste -sd' ' "$work/outer" | awk -v usr="$(awk '$1 == "cpu_usr" {print $3}' "$work/ours")" \
	-v io="$(awk '/^disk_io/ {print $3}' "$work/ours")" '
	{
		ok = $1 <= usr && usr <= $5
		printf "%sok 8 - cpu_usr %d lies between %d and %d\n", ok ? "" : "not ", usr, $1, $5
		in_disk = $4 * 512 <= io && io <= $8 * 512
		printf "%sok 9 - disk_io %.0f lies between %.0f and %.0f\n", in_disk ? "" : "not ", io, $4 * 512, $8 '\
'* 512
		exit !(ok && in_disk)
	}' || rc=1
echo "1..9"
exit $rc
