#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Counters of the node against an independent reading of the same files: awk, with the fields as proc(5) and the
# kernel's documentation number them. Exact in the snapshot batch-node; on this machine between a reading before and one
# after. TAP.
. "${top_srcdir:-.}/tests/lib/tap.sh"
counters_over=$build/tests/lib/counters_over

own() # own CLASS: devices of the machine itself: those with a device, in the names of files
{
	for d in "$root/sys/$1"/*; do
		if [ -e "$d/device" ]; then
			echo "$d/$2"
		fi
	done
}

# name, files, awk program; F: sum of the numbers that it prints
cat >"$dir/table" <<'END'
interrupts|/proc/stat|$1 == "intr" { print $2 }
ctxt_switches|/proc/stat|$1 == "ctxt" { print $2 }
forks|/proc/stat|$1 == "processes" { print $2 }
run_queue|/proc/stat|$1 == "procs_running" { print $2 }
blocked|/proc/stat|$1 == "procs_blocked" { print $2 }
softirqs|/proc/stat|$1 == "softirq" { print $2 }
softirqs_timer|/proc/stat|$1 == "softirq" { print $4 }
softirqs_net_tx|/proc/stat|$1 == "softirq" { print $5 }
softirqs_net_rx|/proc/stat|$1 == "softirq" { print $6 }
softirqs_block|/proc/stat|$1 == "softirq" { print $7 }
softirqs_sched|/proc/stat|$1 == "softirq" { print $10 }
softirqs_rcu|/proc/stat|$1 == "softirq" { print $12 }
reclaim_kswapd|/proc/vmstat|$1 == "pgsteal_kswapd" { print $2 }
reclaim_direct|/proc/vmstat|$1 == "pgsteal_direct" { print $2 }
reclaim_scanned|/proc/vmstat|$1 == "pgscan_direct" { print $2 }
compact_stall|/proc/vmstat|$1 == "compact_stall" { print $2 }
thp_fault|/proc/vmstat|$1 == "thp_fault_alloc" { print $2 }
thp_collapse|/proc/vmstat|$1 == "thp_collapse_alloc" { print $2 }
thp_split|/proc/vmstat|$1 == "thp_split_page" { print $2 }
numa_migrated|/proc/vmstat|$1 == "numa_pages_migrated" { print $2 }
mem_slab|/proc/meminfo|$1 == "Slab:" { print $2 * 1024 }
mem_slab_reclaimable|/proc/meminfo|$1 == "SReclaimable:" { print $2 * 1024 }
mem_huge_anon|/proc/meminfo|$1 == "AnonHugePages:" { print $2 * 1024 }
hugepages_total|/proc/meminfo|$1 == "HugePages_Total:" { print $2 }
hugepages_free|/proc/meminfo|$1 == "HugePages_Free:" { print $2 }
tcp_segments_out|/proc/net/snmp|$1 == "Tcp:" && !h { for (i = 2; i <= NF; i++) if ($i == "OutSegs") h = i; next } $1 == "Tcp:" { print $h }
tcp_retransmits|/proc/net/snmp|$1 == "Tcp:" && !h { for (i = 2; i <= NF; i++) if ($i == "RetransSegs") h = i; next } $1 == "Tcp:" { print $h }
tcp_timeouts|/proc/net/netstat|$1 == "TcpExt:" && !h { for (i = 2; i <= NF; i++) if ($i == "TCPTimeouts") h = i; next } $1 == "TcpExt:" { print $h }
tcp_listen_drops|/proc/net/netstat|$1 == "TcpExt:" && !h { for (i = 2; i <= NF; i++) if ($i == "ListenDrops") h = i; next } $1 == "TcpExt:" { print $h }
udp_in|/proc/net/snmp|$1 == "Udp:" && !h { for (i = 2; i <= NF; i++) if ($i == "InDatagrams") h = i; next } $1 == "Udp:" { print $h }
udp_in_errors|/proc/net/snmp|$1 == "Udp:" && !h { for (i = 2; i <= NF; i++) if ($i == "InErrors") h = i; next } $1 == "Udp:" { print $h }
udp_rcvbuf_drops|/proc/net/snmp|$1 == "Udp:" && !h { for (i = 2; i <= NF; i++) if ($i == "RcvbufErrors") h = i; next } $1 == "Udp:" { print $h }
udp_sndbuf_drops|/proc/net/snmp|$1 == "Udp:" && !h { for (i = 2; i <= NF; i++) if ($i == "SndbufErrors") h = i; next } $1 == "Udp:" { print $h }
nfs_calls|/proc/net/rpc/nfs|$1 == "rpc" { print $2 }
nfs_retransmits|/proc/net/rpc/nfs|$1 == "rpc" { print $3 }
disk_ops|own block stat|{ print $1 + $5 }
disk_ops_read|own block stat|{ print $1 }
disk_ops_write|own block stat|{ print $5 }
disk_wait|own block stat|{ print $4 + $8 }
disk_busy|own block stat|{ print $10 }
disk_queue|own block stat|{ print $11 }
disk_inflight|own block stat|{ print $9 }
net_rx_packets|own class/net statistics/rx_packets|{ print $1 }
net_tx_packets|own class/net statistics/tx_packets|{ print $1 }
net_rx_errors|own class/net statistics/rx_errors|{ print $1 }
net_tx_errors|own class/net statistics/tx_errors|{ print $1 }
net_rx_drops|own class/net statistics/rx_dropped|{ print $1 }
net_tx_drops|own class/net statistics/tx_dropped|{ print $1 }
numa_hit|/sys/devices/system/node/node*/numastat|$1 == "numa_hit" { print $2 }
numa_miss|/sys/devices/system/node/node*/numastat|$1 == "numa_miss" { print $2 }
numa_foreign|/sys/devices/system/node/node*/numastat|$1 == "numa_foreign" { print $2 }
local_node|/sys/devices/system/node/node*/numastat|$1 == "local_node" { print $2 }
other_node|/sys/devices/system/node/node*/numastat|$1 == "other_node" { print $2 }
edac_corrected|/sys/devices/system/edac/mc/mc*/ce_count|{ print $1 }
edac_uncorrected|/sys/devices/system/edac/mc/mc*/ue_count|{ print $1 }
throttle_core|/sys/devices/system/cpu/cpu*/thermal_throttle/core_throttle_count|{ print $1 }
throttle_package|/sys/devices/system/cpu/cpu*/thermal_throttle/package_throttle_count|{ print $1 }
gpu_busy|/sys/class/drm/card*/device/gpu_busy_percent|{ print $1 }
gpu_mem_used|/sys/class/drm/card*/device/mem_info_vram_used|{ print $1 }
gpu_mem_total|/sys/class/drm/card*/device/mem_info_vram_total|{ print $1 }
lustre_read|/proc/fs/lustre/llite/*/stats|$1 == "read_bytes" { print $7 }
lustre_write|/proc/fs/lustre/llite/*/stats|$1 == "write_bytes" { print $7 }
lustre_ops_read|/proc/fs/lustre/llite/*/stats|$1 == "read_bytes" { print $2 }
lustre_ops_write|/proc/fs/lustre/llite/*/stats|$1 == "write_bytes" { print $2 }
lustre_ops_open|/proc/fs/lustre/llite/*/stats|$1 == "open" { print $2 }
lustre_ops_getattr|/proc/fs/lustre/llite/*/stats|$1 == "getattr" { print $2 }
END
cat >"$dir/table.snapshot" <<'END'
cgroup1_cpu|/sys/fs/cgroup/cpuacct/slurm/job_1/cpuacct.usage|{ print $1 }
cgroup1_throttled|/sys/fs/cgroup/cpu/slurm/job_1/cpu.stat|$1 == "throttled_time" { print $2 }
cgroup1_mem|/sys/fs/cgroup/memory/slurm/job_1/memory.usage_in_bytes|{ print $1 }
cgroup1_read|/sys/fs/cgroup/blkio/slurm/job_1/blkio.throttle.io_service_bytes|$2 == "Read" { print $3 }
cgroup1_write|/sys/fs/cgroup/blkio/slurm/job_1/blkio.throttle.io_service_bytes|$2 == "Write" { print $3 }
cgroup_psi_cpu|/sys/fs/cgroup/unified/slurm/job_1/cpu.pressure|/^some/ { sub(/.*total=/, ""); print }
cgroup_psi_mem|/sys/fs/cgroup/unified/slurm/job_1/memory.pressure|/^some/ { sub(/.*total=/, ""); print }
cgroup_psi_mem_full|/sys/fs/cgroup/unified/slurm/job_1/memory.pressure|/^full/ { sub(/.*total=/, ""); print }
cgroup_psi_io|/sys/fs/cgroup/unified/slurm/job_1/io.pressure|/^some/ { sub(/.*total=/, ""); print }
cgroup_psi_io_full|/sys/fs/cgroup/unified/slurm/job_1/io.pressure|/^full/ { sub(/.*total=/, ""); print }
END

# by awk: what the table's files say: "NAME VALUE"
by_awk() # by_awk TABLE
{
	while IFS='|' read -r name files program; do
		case $files in
		own*) set -- $(own ${files#own }) ;;
		*) set -- "$root"$files ;;
		esac
		[ -e "${1:-}" ] || continue
		for file; do
			awk "$program" "$file"
		done | awk -v n="$name" '{ s += $1; k++ } END { if (k) { printf "%s %.0f\n", n, s } }'
	done <"$1"
}

# ---- the snapshot ----
cat "$dir/table" "$dir/table.snapshot" >"$dir/all"
mkdir "$dir/snap"
sh "$src/tests/proc/gather.sh" --unpack "$dir/snap" <"$src/tests/proc/batch-node.snap"
root=$dir/snap
by_awk "$dir/all" | sort >"$dir/want"
# shellcheck disable=SC2046
COUNTERS_ROOT=$root "$counters_over" 0 $(cut -d'|' -f1 "$dir/all") 2>"$dir/err" |
	awk 'NF == 3 && $1 != "seconds" { print $1, $3 }' | sort >"$dir/got"
expect [ "$(wc -l <"$dir/want")" -eq "$(wc -l <"$dir/all")" ]
expect_same "$dir/want" "$dir/got"
verdict "$(wc -l <"$dir/all") counters of a snapshot are what awk reads"

COUNTERS_ROOT=$root "$counters_over" 0 disk_ops:sdb numa_hit:node1 lustre_read:home-ffff8801 2>"$dir/err" |
	awk 'NF == 3 && $1 != "seconds" { print $1, $3 }' | sort >"$dir/got"
printf 'disk_ops:sdb 6\nlustre_read:home-ffff8801 10485760\nnuma_hit:node1 2000\n' | diff - "$dir/got" >"$dir/diff"
ok "single devices" $?

# ---- this machine ----
root=
by_awk "$dir/table" >"$dir/before"
# shellcheck disable=SC2046
"$counters_over" 0 $(cut -d' ' -f1 "$dir/before") 2>"$dir/err" |
	awk 'NF == 3 && $1 != "seconds" { print $1, $3 }' >"$dir/got"
by_awk "$dir/table" >"$dir/after"
levels=$("$build/vtcounters" --json '*' 2>"$dir/err" |
	awk -F'"' '$2 == "name" { name = $4 } $2 == "kind" && $4 == "level" { printf " %s", name }')
awk -v levels="$levels " '
	FILENAME ~ /before$/ { a[$1] = $2; n++ }
	FILENAME ~ /got$/ { v[$1] = $2 }
	FILENAME ~ /after$/ { b[$1] = $2 }
	END { for (k in a) {
		level = index(levels, " " k " ")
		if (!(k in v)) { print k ": awk reads " a[k] ", the counter is missing"; bad = 1 }
		else if (!level && (v[k] < a[k] || v[k] > b[k])) { print k ": " v[k] " is not between " a[k] " and " '\
'b[k]; bad = 1 }
		else if (level && a[k] == b[k] && (v[k] > 1.5 * a[k] + 50 || v[k] < a[k] / 1.5 - 50)) { print k ": " '\
'v[k] " instead of " a[k]; bad = 1 }
	  }
	  exit bad || n < 20 }' "$dir/before" "$dir/got" "$dir/after" >"$dir/diff"
status=$?
ok "$(wc -l <"$dir/before") counters of this machine lie between two readings by awk" $status

# ---- what a machine lacks has a reason ----
mkdir -p "$dir/bare/proc" "$dir/bare/sys"
"$build/vtcounters" --root "$dir/bare" '*' >"$dir/out" 2>&1
cut -d'|' -f1 "$dir/all" | while read -r name; do
	grep -Ewq -A9 "^ .*$name" "$dir/out" || echo "$name is not explained"
done >"$dir/diff"
expect_empty "$dir/diff"
expect_line 'EDAC' "$dir/out"
expect_line 'Lustre' "$dir/out"
expect_line 'NFS' "$dir/out"
expect_line amdgpu "$dir/out"
verdict "a machine that has none of them: each is named with its reason"
rm "$dir/snap/sys/fs/cgroup/unified/slurm/job_1/cpu.pressure"
why() # why COUNTER REASON: of the snapshot
{
	"$build/vtcounters" --root "$dir/snap" "$1" >"$dir/out" 2>&1
	grep -A1 "^ *$1\$" "$dir/out" | grep -q "^ *no [^ ]*: $2"
}
expect why cgroup_psi_cpu 'the root cgroup has none'
expect why cgroup_usr 'the controller is not enabled for this cgroup'
expect why psi_cpu 'boot with psi=1'
verdict "a controller of the cgroup, its pressure and that of the node are missing for different reasons"
"$build/vtcounters" beegfs_ops >"$dir/out" 2>&1
expect [ $? -eq 1 ]
grep -A1 '^ *beegfs_ops$' "$dir/out" | expect_line 'beegfs-ctl --clientstats' -
"$build/vtcounters" 'nvidia*' 2>&1 | expect_line "NVIDIA's GPUs are nvml_\*" -
verdict "what is counted elsewhere is explained by name"
done_testing
