#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Gathers what the counter sources read of /proc and /sys into one text on stdout, so that their parsers can be
# tested on this machine elsewhere:
#
#   sh gather.sh >NAME.snap       on the machine; nothing is changed, nothing private but names of devices
#   sh gather.sh --unpack DIR <NAME.snap       makes the folder that vtcounters --root DIR reads
#
# In the text "@ PATH" begins a file, whose lines follow after one blank; "/ PATH" is a folder.
set -u

unpack() # unpack DIR
{
	mkdir -p "$1" || exit 1
	awk -v top="$1" '
		function quoted(s) { gsub(/\047/, "\047\\\047\047", s); return "\047" s "\047" }
		function parent(p) { sub("/[^/]*$", "", p); return p }
		/^[@\/] .*\/\.\.(\/|$)/ { print "gather.sh: a path climbs: " $0 >"/dev/stderr"; exit 1 }
		/^@ / {
			if (file) { close(file) }
			file = top substr($0, 3)
			if (!made[parent(file)]++) { system("mkdir -p " quoted(parent(file))) }
			printf "" >file
		}
		/^\/ / { system("mkdir -p " quoted(top substr($0, 3))) }
		/^ / && file { print substr($0, 2) >file }'
}

file() # file PATH...: those that can be read
{
	for path; do
		if [ -f "$path" ] && text=$(cat "$path" 2>/dev/null); then
			echo "@ $path"
			printf '%s\n' "$text" | sed 's/^/ /'
		fi
	done
}

folder() # folder PATH...: those that are there
{
	for path; do
		if [ -d "$path" ]; then
			echo "/ $path"
		fi
	done
}

case ${1:-} in
--unpack)
	unpack "${2:?folder}"
	exit
	;;
esac

file /proc/net/snmp /proc/net/netstat /proc/net/rpc/nfs
file /proc/stat /proc/meminfo /proc/vmstat /proc/loadavg /proc/pressure/cpu /proc/pressure/memory /proc/pressure/io
file /proc/self/cgroup /proc/self/stat /proc/self/statm /proc/self/io /proc/self/status /proc/cpuinfo
file /proc/sys/kernel/perf_event_paranoid /sys/devices/system/clocksource/clocksource0/current_clocksource
for d in /sys/block/*; do
	file "$d/stat" "$d/hidden"
	folder "$d/device"
done
for d in /sys/class/net/*; do
	file "$d"/statistics/[rt]x_* "$d/type" "$d/phys_port_name" "$d/tun_flags"
	folder "$d/device" "$d/bridge" "$d/bonding" "$d/brport"
done
file /sys/devices/system/node/node*/numastat /sys/devices/system/edac/mc/mc*/?e_count
file /sys/devices/system/cpu/cpu*/thermal_throttle/*_throttle_count /proc/fs/lustre/llite/*/stats \
	/sys/kernel/debug/lustre/llite/*/stats
file /sys/class/drm/card*/device/*_busy_percent /sys/class/drm/card*/device/mem_info_vram_* \
	/sys/class/drm/card*/device/hwmon/hwmon*/*_input \
	/sys/class/drm/card*/device/hwmon/hwmon*/*_average
file /sys/class/hwmon/hwmon*/name /sys/class/hwmon/hwmon*/*_input /sys/class/hwmon/hwmon*/*_average \
	/sys/cray/pm_counters/*
for d in /sys/class/infiniband/*/ports/*; do
	file "$d"/counters/port_*_data "$d"/counters_ext/port_*_data_64
done
for d in /sys/class/powercap/*:*; do
	file "$d/name" "$d/energy_uj" "$d/max_energy_range_uj"
done
file /sys/devices/system/cpu/cpu*/cpufreq/scaling_cur_freq /sys/bus/event_source/devices/*/type
for d in /sys/fs/cgroup /sys/fs/cgroup/unified; do
	group=$(sed -n 's/^0:://p' /proc/self/cgroup)
	file "$d/cgroup.controllers"
	if [ "$group" != / ]; then
		file "$d$group/cpu.stat" "$d$group/memory.current" "$d$group/io.stat" "$d$group"/*.pressure
	else
		file "$d/cpu.stat" "$d/memory.current" "$d/io.stat" "$d"/*.pressure
	fi
done
for c in cpuacct/cpuacct.usage cpu/cpu.stat memory/memory.usage_in_bytes blkio/blkio.throttle.io_service_bytes; do
	group=$(sed -n "s/^[0-9]*:\([^:]*,\)*${c%%/*}\(,[^:]*\)*:\(.*\)/\3/p" /proc/self/cgroup)
	file "/sys/fs/cgroup/${c%%/*}$group/${c#*/}" "/sys/fs/cgroup/$c"
done
exit 0
