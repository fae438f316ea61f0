#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The part of machine.sh that runs in the machine, in a folder with what was built. TAP. The sleep is last.
set -u
run=$(mktemp -d) || exit 99
cp -r . "$run/bin"
cd "$run" || exit 99
PATH=$run/bin:$PATH
VT_FORCE=on VT_VERBOSE=0 VT_SAMPLE_BUDGET=1 VT_SAMPLE_PERIOD=200ms VT_OS_COUNTER_DELAY=200ms
export PATH VT_FORCE VT_VERBOSE VT_SAMPLE_BUDGET VT_SAMPLE_PERIOD VT_OS_COUNTER_DELAY
count=0

ok() # ok NAME STATUS: what is in the file why is shown otherwise
{
	count=$((count + 1))
	if [ "$2" -eq 0 ]; then
		echo "ok $count - $1"
	else
		echo "not ok $count - $1"
		sed 's/^/# /' why 2>/dev/null
	fi
	rm -f why
}

skip()
{
	count=$((count + 1))
	echo "ok $count - $1 # SKIP $2"
}

valid() # valid TRACE: no fault, and no running total ever decreases
{
	stftool "$1" --verify >why 2>&1 && stftool "$1" --dump >dump 2>>why && awk '
		$1 == "DEFCOUNTER" && / DIFF 1/ { total[$2] = $3 }
		$2 == "SAMP" {
			for (i = 5; i < NF; i += 5) {
				if ($i == "DEF" && $(i + 1) in total) {
					if ($(i + 4) < last[$(i + 1)]) {
					print total[$(i + 1)], "falls from", last[$(i + 1)], "to", $(i + 4); bad = 1 }
					last[$(i + 1)] = $(i + 4)
				}
			}
			n++
		}
		END { if (!n) { print "no samples" } exit bad || !n }' dump >>why
}

# total COUNTER LEAST MOST: by how much it grew in the trace of the last valid()
total()
{
	awk -v name="\"$1\"" -v least="$2" -v most="$3" '
		$1 == "DEFCOUNTER" && $3 == name { id = $2 }
		$2 == "SAMP" && id != "" {
			for (i = 5; i < NF; i += 5) {
				if ($(i + 1) == id) { if (first == "") { first = $(i + 4) } end = $(i + 4) }
			}
		}
		END { print name, "grew by", end - first, "of", least, "to", most;
		exit first == "" || end - first < least || end - first > most }' dump >why
}

noted() { grep -q "COMMENT.*$1" dump || { echo "no comment: $1" >why; false; }; }

# ---- a CPU is switched off and on ----

cat >cpu.sh <<'END'
sleep 1
echo 0 >/sys/devices/system/cpu/cpu1/online
now=$(cut -d' ' -f1 /proc/uptime)
sleep 5
echo "off $now $(cut -d' ' -f1 /proc/uptime)"
echo 1 >/sys/devices/system/cpu/cpu1/online
sleep 3
END
if [ -w /sys/devices/system/cpu/cpu1/online ]; then
	begin=$(cut -d' ' -f1 /proc/uptime)
	vtrun --counter 'cpu_*' --counter 'cpu_idle:cpu1' -- sh cpu.sh >off
	ok "a CPU is switched off and on: the program ends well" $?
	valid sh.stf
	ok "a valid trace" $?
	# from 1 s after it was off until 1 s before it was on; the trace begins up to 1 s after `begin`
	awk -v begin="$begin" '
		NR == FNR { if ($1 == "off") { from = $2 - begin + 0.5; to = $3 - begin - 1.5 } next }
		$1 == "DEFCOUNTER" && $3 ~ /^"cpu_(idle|sys|usr|iowait|irq|steal)"$/ { class[$2] = 1; n++ }
		$2 == "SAMP" {
			seen = 0
			for (i = 5; i < NF; i += 5) {
				if ($(i + 1) in class) { v[$(i + 1)] = $(i + 4); seen++ }
			}
			if (seen < 6) { next }
			sum = 0
			for (k in v) { sum += v[k] }
			t = $1 / 1e9
			if (!start) { start = t; first = sum }
			if (t >= from && !t1) { t1 = t; s1 = sum }
			if (t <= to) { t2 = t; s2 = sum }
			end = t; last = sum
		}
		END {
			share = (s2 - s1) / (t2 - t1) / 2
			all = (last - first) / (end - start) / 2
			print n " classes: " share " percent while it was off, over " t2 - t1 " s; in all " all
			exit n != 6 || t2 - t1 < 2 || share < 95 || share > 105 || all < 80 || all > 105
		}' off dump >why
	rc=$?
	sed 's/^/# /' why
	ok "all classes together stay 100 percent, and nothing jumps" $rc
else
	for t in "a CPU is switched off and on: the program ends well" "a valid trace" \
		"all classes together stay 100 percent, and nothing jumps"; do
		skip "$t" "no CPU here that can be switched off"
	done
fi

# ---- an interface and a disk are plugged in, out and in ----

pci_of() # pci_of /sys/...: the PCI device that something hangs at
{
	readlink -f "$1" 2>/dev/null | tr / '\n' | grep -E '^[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9]$' | tail -n 1
}
net='' disk=''
for d in /sys/class/net/*; do
	[ -z "$(pci_of "$d")" ] || net=${d##*/}
done
for d in /sys/block/vd*; do
	grep -q "^/dev/${d##*/} " /proc/mounts || [ -z "$(pci_of "$d")" ] || disk=${d##*/}
done
cat >plug.sh <<'END'
net=$1 disk=$2 devices=$3
until_there() { i=0; until [ -e "$1" ] || [ $i -ge 100 ]; do i=$((i + 1)); sleep 0.1; done; }
rescan()
{
	echo 1 >/sys/bus/pci/rescan
	until_there "/sys/class/net/$net/statistics"
	until_there "/dev/$disk"
	ip link set "$net" up
}
remove() { for d in $pci; do echo 1 >"/sys/bus/pci/devices/$d/remove"; done; }
pci="$4 $5"
sleep 1
rescan
sleep 2
devices frames "$net" 50 1000 && dd if=/dev/zero of="/dev/$disk" bs=64k count=16 oflag=direct 2>/dev/null
sleep 1
remove
sleep 2
rescan
sleep 2
devices frames "$net" 10 1000 && dd if=/dev/zero of="/dev/$disk" bs=64k count=8 oflag=direct 2>/dev/null
sleep 1
echo moved
END
if [ -n "$net" ] && [ -n "$disk" ]; then
	a=$(pci_of "/sys/class/net/$net") b=$(pci_of "/sys/block/$disk")
	echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6 2>/dev/null
	# absent when the program begins
	echo 1 >"/sys/bus/pci/devices/$a/remove"
	echo 1 >"/sys/bus/pci/devices/$b/remove"
	out=$(vtrun --counter net_tx --counter 'net_tx:*' --counter disk_write --counter "disk_write:$disk" \
		-- sh plug.sh "$net" "$disk" devices "$a" "$b")
	[ "$out" = moved ]
	ok "PCI devices come, go and come: the program ends well" $?
	valid sh.stf
	ok "a valid trace" $?
	total net_tx 60000 60000
	ok "bytes sent are those of the frames" $?
	awk -v name="\"net_tx:$net\"" '$1 == "DEFCOUNTER" && $3 == name { found = 1 } END { exit !found }' dump &&
		awk -v name="\"disk_write:$disk\"" '$1 == "DEFCOUNTER" && $3 == name { id = $2 }
			$2 == "SAMP" && id != "" { for (i = 5; i < NF; i += 5) { if ($(i + 1) == id) {
			end = $(i + 4) } } }
			END { print end; exit end != 24 * 65536 }' dump >why
	ok "who was absent at the start has counters of its own" $?
	# other disks may be written to meanwhile
	total disk_write $((24 * 65536)) $((24 * 65536 + 1048576))
	ok "bytes written are those of the writes" $?
else
	for t in "PCI devices come, go and come: the program ends well" "a valid trace" \
		"bytes sent are those of the frames" \
		"who was absent at the start has counters of its own" "bytes written are those of the writes"; do
		skip "$t" "no interface and disk at PCI that nobody uses"
	done
fi

# ---- an NVMe disk with two paths ----

# in the order of what they need of each other
# shellcheck disable=SC2034
for round in 1 2 3 4 5; do
	for m in bin/modules/*.ko; do
		[ ! -e "$m" ] || busybox insmod "$m" 2>/dev/null
	done
done
sleep 2
nvme=
for d in /sys/block/nvme*; do
	# the head of two hidden paths
	[ "$(cat "$d/hidden" 2>/dev/null)" = 0 ] && nvme=${d##*/}
done
if [ -n "$nvme" ] && [ "$(cat /sys/block/nvme*c*n*/hidden 2>/dev/null | grep -c 1)" -ge 2 ]; then
	echo "# $nvme of $(cd /sys/block && echo nvme*c*n*)"
	# shellcheck disable=SC2016
	vtrun --counter disk_write --counter 'disk_write:nvme*' \
		-- sh -c 'sleep 1; dd if=/dev/zero of="$0" bs=64k count=256 oflag=direct; sleep 1' "/dev/$nvme" \
		2>/dev/null
	ok "writing to an NVMe disk with two paths" $?
	# the kernel counts at the paths, and from 6.4 on at their head, too
	valid sh.stf && awk -v head="\"disk_write:$nvme\"" '
		$1 == "DEFCOUNTER" && $3 ~ /^"disk_write:nvme[0-9]*c/ { path[$2] = 1; n++ }
		$1 == "DEFCOUNTER" && $3 == head { id = $2 }
		$2 == "SAMP" {
			for (i = 5; i < NF; i += 5) {
				if ($(i + 1) in path || $(i + 1) == id) { if (!($(i + 1) in first)) {
				first[$(i + 1)] = $(i + 4) } end[$(i + 1)] = $(i + 4) }
			}
		}
		END {
			for (k in path) { sum += end[k] - first[k] }
			print n " paths: " sum (id != "" ? ", head: " end[id] - first[id] : "")
			exit n < 2 || sum != 16777216 || (id != "" && end[id] - first[id] != 16777216)
		}' dump >why
	rc=$?
	sed 's/^/# /' why
	ok "its bytes" $rc
	total disk_write 16777216 $((16777216 + 1048576))
	ok "its paths are not counted once more" $?
else
	for t in "writing to an NVMe disk with two paths" "its bytes" "its paths are not counted once more"; do
		skip "$t" "no NVMe disk with two paths"
	done
fi

# ---- the machine sleeps ----

# What passed of CLOCK_BOOTTIME and not of CLOCK_MONOTONIC, from outside the library.
clocks() { awk '/^now at/ { print $3 / 1e9 }' /proc/timer_list | head -n 1; cut -d' ' -f1 /proc/uptime; }
# Hibernation as far as to where the image would be made, and back: devices, other CPUs and the time stand still.
cat >sleep.sh <<'END'
sleep 1
echo core >/sys/power/pm_test && echo disk >/sys/power/state || exit 1
echo none >/sys/power/pm_test
sleep 2
echo slept
END
if grep -q core /sys/power/pm_test 2>/dev/null && grep -q disk /sys/power/state &&
	grep -q '^now at' /proc/timer_list; then
	for timer in CPU clock_monotonic; do
		clocks >before
		out=$(vtrun --timer "$timer" --counter '**' -- sh sleep.sh)
		clocks >after
		asleep=$(cat before after | awk '{ v[NR] = $1 } END { print (v[4] - v[2]) - (v[3] - v[1]) }')
		[ "$out" = slept ]
		ok "$timer: a suspended machine: the program ends well" $?
		valid sh.stf
		ok "$timer: a valid trace, no total falls" $?
		# the two clocks were read one after the other, by programs
		sed -n 's/.*suspended for \([0-9.]*\) s.*/\1/p' dump | awk -v want="$asleep" '{ n++; got = $1 }
			END { print n + 0 " times noted, " got " s of " want; exit n != 1 || want < 2 ||
			got < want - 1 || got > want + 1 }' >why
		rc=$?
		sed 's/^/# /' why
		ok "$timer: it is noted once, for how long" $rc
		awk '$2 == "SAMP" { if (last && $1 - last > gap) { gap = $1 - last } last = $1 }
			END { print gap / 1e9 }' dump >gap
		echo "# $timer: longest gap $(cat gap) s"
		if [ "$timer" = clock_monotonic ]; then
			awk -v asleep="$asleep" '{ exit !($1 < asleep) }' gap
			ok "$timer: the axis does not contain that time" $?
		fi
	done
else
	for t in "a suspended machine: the program ends well" "a valid trace, no total falls" \
		"it is noted once, for how long"; do
		skip "$t" "no /sys/power/pm_test and hibernation in this kernel"
	done
fi
# In this sleep the processes are frozen and the devices asleep, but without the CPU's help the time goes on.
cat >freeze.sh <<'END'
sleep 1
echo 0 >/sys/class/rtc/rtc0/wakealarm
echo +8 >/sys/class/rtc/rtc0/wakealarm && echo freeze >/sys/power/state || exit 1
sleep 2
echo slept
END
if [ -w /sys/class/rtc/rtc0/wakealarm ] && grep -q freeze /sys/power/state; then
	out=$(vtrun -- sh freeze.sh)
	[ "$out" = slept ]
	ok "suspend to idle: the program ends well" $?
	valid sh.stf
	ok "a valid trace, no total falls" $?
	noted '\(no samples for\|suspended for\) [1-9]'
	ok "it is noted" $?
else
	for t in "suspend to idle: the program ends well" "a valid trace, no total falls" "it is noted"; do
		skip "$t" "no clock that could wake this machine"
	done
fi
echo "1..$count"
# folders shared with the emulator do not come back from its sleep, so the end must not wait for them
busybox poweroff -n -f 2>/dev/null
