#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# OTF2 archives of jobs with accelerators, as Score-P writes them: contexts of a GPU are location groups, counters
# belong to a context or to a node. TAP.
# shellcheck disable=SC1091,SC2154
. "${top_srcdir:-.}/tests/cli/lib/toollib.sh"
python=/usr/bin/python3
"$python" -c 'import otf2' 2>/dev/null || skip_all "there is no module otf2 (Debian: python3-otf2)"
"$build/tests/lib/exchange_table" | grep -q '^| OTF2 ' || skip_all "this build has no OTF2"

# make NAME CREATOR: two processes and three contexts; CREATOR 0: as before OTF2 3.0, each context below the node of its
# own process; 1: two processes on one node and named creators; 2: neither
make()
{
	"$python" -B - "$dir/$1" "$2" <<'END' 2>"$dir/warn"
import sys
import otf2
from otf2 import LocationGroupType, LocationType, MetricScope
creator = int(sys.argv[2])
with otf2.writer.open(sys.argv[1], timer_resolution=10**9) as w:
    d = w.definitions
    machine = d.system_tree_node("machine", class_name="machine")
    nodes = [d.system_tree_node(f"n{k}", class_name="node", parent=machine) for k in range(2)]
    process = [d.location_group(f"MPI Rank {k}", system_tree_parent=nodes[0 if creator else k]) for k in range(2)]
    main = [d.location("Master thread", group=p) for p in process]
    d.group("", group_type=otf2.GroupType.COMM_LOCATIONS, members=main, paradigm=otf2.Paradigm.MPI)
    recorder = d.location("", type=LocationType.METRIC, group=process[0])
    contexts = []
    for k in range(3):
        device = d.system_tree_node(str(k), class_name="ROCm device", parent=nodes[0 if creator else k % 2])
        contexts.append(d.location_group(f"HIP Context {k // 2}", location_group_type=LocationGroupType.ACCELERATOR,
                                         system_tree_parent=device,
                                         creating_location_group=process[k % 2] if creator == 1 else None))
    stream = [d.location(f"HIP[{k}:0]", type=LocationType.ACCELERATOR_STREAM, group=c) for k, c in enumerate(contexts)]
    memory = d.metric_class([d.metric_member("HIP Memory", "", otf2.MetricType.OTHER,
                                             otf2.MetricMode.ABSOLUTE_POINT, value_type=otf2.Type.UINT64, unit="B")])
    power = d.metric_class([d.metric_member("power", "", otf2.MetricType.OTHER,
                                            otf2.MetricMode.ABSOLUTE_POINT, value_type=otf2.Type.UINT64, unit="W")])
    of_context = [d.metric_instance(memory, recorder=recorder, metric_scope=MetricScope.LOCATION_GROUP, scope=c)
                  for c in contexts]
    of_node = [d.metric_instance(power, recorder=recorder, metric_scope=MetricScope.SYSTEM_TREE_NODE, scope=n)
               for n in nodes]
    base = 1005000, 1006990  # the same time by the clocks of both ranks
    launch, kernel = d.region("launch"), d.region("kernel")
    for k, x in enumerate(main):
        e = w.event_writer_from_location(x)
        e.enter(base[k], launch)
        e.leave(base[k] + 100, launch)
    for k, x in enumerate(stream):
        e = w.event_writer_from_location(x)
        e.enter(base[k % 2] + 50, kernel)
        e.leave(base[k % 2] + 500, kernel)
    e = w.event_writer_from_location(recorder)
    for k, m in enumerate(of_context):
        e.metric(base[0] + 200 + k, m, [1000 * (k + 1)])
    for k, m in enumerate(of_node):
        e.metric(base[0] + 300 + k, m, [200 + k])
END
}
make created 1
make below 0
make unknown 2
sed -n "/^cat >.*m.clk/,/^END/p" "$src/tests/cli/clkapply/clkapply.sh" | sed '1d;$d' >"$dir/m.clk"

# kernels have the clock of the process that launched them: rank 1 is corrected by another line than rank 0
for n in created below; do
	"$build/clkapply" "$dir/m.clk" "$dir/$n/traces.otf2" --output "$dir/fix-$n.otf2" >"$dir/out" 2>"$dir/err"
	status=$?
	expect_status 0
	otf2-print "$dir/fix-$n.otf2/traces.otf2" 2>"$dir/warn" | grep -E '^(ENTER|LEAVE)' >"$dir/printed"
	awk '{ n = $3 - 1005000; print (n < 0 || n > 502 ? "far off" : int(n / 50) * 50), $1 }' "$dir/printed" |
		sort | uniq -c | sed 's/^ *//' >"$dir/have"
	printf '%s\n' '2 0 ENTER' '2 100 LEAVE' '3 50 ENTER' '3 500 LEAVE' >"$dir/want"
	expect_same "$dir/want" "$dir/have"
	verdict "clkapply: an accelerator of an archive ($n) has the clock of its process"
done
"$build/clkapply" "$dir/m.clk" "$dir/unknown/traces.otf2" --output "$dir/fix.otf2" >"$dir/out" 2>"$dir/err"
status=$?
expect_status 1
expect_line 'does not say which process uses the accelerator "HIP Context 0"' "$dir/err"
expect [ ! -e "$dir/fix.otf2" ]
verdict "clkapply: an archive that does not say whose an accelerator is is refused"

for n in created below; do
	tool "$dir/$n/traces.otf2" --convert "$dir/$n.stf"
	expect_status 0
	tool "$dir/$n.stf" --dump
	grep -E '^(NCPUS|CPUNAMES)' "$dir/out" >"$dir/have"
	printf '%s\n' 'NCPUS 3 2' 'CPUNAMES "MPI Rank 0" "HIP[0:0]" "HIP[2:0]" "MPI Rank 1" "HIP[1:0]"' >"$dir/want"
	expect_same "$dir/want" "$dir/have"
	expect_lines 5 '^DEFCPU .* HOST "n[01]"' "$dir/out"
	tool "$dir/$n.stf" --convert "$dir/$n.csv"
	if [ "$n" = created ]; then # no process is on the second node
		expect_line '^0.000000301,,,,n1,metric:power,201,W$' "$dir/$n.csv"
		expect_line '^0.000000201,,n0,,MPI Rank 1: HIP Context 0,' "$dir/$n.csv"
	else
		expect_line '^0.000000301,,n1,,,metric:power,201,W$' "$dir/$n.csv"
		expect_line '^0.000000201,,n1,,MPI Rank 1: HIP Context 0,' "$dir/$n.csv"
	fi
	expect_line '^0.000000300,,n0,,,metric:power,200,W$' "$dir/$n.csv"
	expect_line '^0.000000200,,n0,,MPI Rank 0: HIP Context 0,metric:HIP Memory,1000,B$' "$dir/$n.csv"
	expect_line '^0.000000202,,n0,,HIP Context 1,metric:HIP Memory,3000,B$' "$dir/$n.csv"
	verdict "stftool: of an archive ($n) each context and each node has counters of its own"
done

# Score-P records copies between host and GPU as puts and gets in a window of host and streams
"$python" -B - "$dir/copies" <<'END' 2>"$dir/warn"
import sys
import otf2
from otf2 import GroupType, LocationGroupType, LocationType, Paradigm
with otf2.writer.open(sys.argv[1], timer_resolution=10**9) as w:
    d = w.definitions
    node = d.system_tree_node("n")
    process = d.location_group("Process", system_tree_parent=node)
    host = d.location("Master thread", group=process)
    gpu = d.location_group("CUDA Context", location_group_type=LocationGroupType.ACCELERATOR, system_tree_parent=node,
                           creating_location_group=process)
    streams = [d.location(f"CUDA[0:{k}]", type=LocationType.ACCELERATOR_STREAM, group=gpu) for k in range(2)]
    d.group("", group_type=GroupType.COMM_LOCATIONS, members=[host] + streams, paradigm=Paradigm.CUDA)
    members = d.group("", group_type=GroupType.COMM_GROUP, members=[0, 1, 2], paradigm=Paradigm.CUDA)
    window = d.rma_win("CUDA window", comm=d.comm("CUDA", group=members))
    e = w.event_writer_from_location(host)
    e.enter(100, d.region("cudaMemcpy"))
    e.leave(900, d.region("cudaMemcpy"))
    first, second = (w.event_writer_from_location(s) for s in streams)
    first.rma_get(200, window, 0, 4096, 1)  # to the GPU
    first.rma_op_complete_blocking(300, window, 1)
    second.rma_get(210, window, 1, 64, 1)  # from GPU to GPU, of the same number
    first.rma_put(400, window, 0, 512, 2)
    second.rma_op_complete_blocking(450, window, 1)
    first.rma_op_complete_non_blocking(500, window, 2)
    first.rma_op_complete_remote(510, window, 2)
    first.rma_op_complete_blocking(520, window, 77)
    second.rma_put(600, window, 9, 1, 3)
END
tool "$dir/copies/traces.otf2" --convert "$dir/copies.stf"
expect_status 0
expect_line ' 2 events of kinds that STF has no record for were left out, 2 of them do not fit' "$dir/err"
tool "$dir/copies.stf" --dump
sed -n 's/^\([0-9]* [SR]...MSG CPU [0-9]*\) .* LEN \([0-9]*\) .* PAIR \([0-9]*\)$/\1 \2 \3/p' "$dir/out" |
	sort -n >"$dir/have"
# threads 1, 65537 and 131073 are the host and both streams; stamp 0 is 100
printf '%s\n' '100 SENDMSG CPU 1 4096 1' '110 SENDMSG CPU 65537 64 2' '200 RECVMSG CPU 65537 4096 1' \
	'300 SENDMSG CPU 65537 512 3' '350 RECVMSG CPU 131073 64 2' '400 RECVMSG CPU 1 512 3' >"$dir/want"
expect_same "$dir/want" "$dir/have"
verdict "stftool: copies between host and GPU are messages, from begin to end"

# a copy that ends while its host waits is no message that came late; that of the other rank is one. All copies are
# open at a time.
"$python" -B - "$dir/waits" <<'END' 2>"$dir/warn"
import sys
import otf2
from otf2 import GroupType, LocationGroupType, LocationType, Paradigm
with otf2.writer.open(sys.argv[1], timer_resolution=10**9) as w:
    d = w.definitions
    node = d.system_tree_node("n")
    process = [d.location_group(f"MPI Rank {k}", system_tree_parent=node) for k in range(2)]
    host = [d.location("Master thread", group=p) for p in process]
    gpu = d.location_group("CUDA Context", location_group_type=LocationGroupType.ACCELERATOR, system_tree_parent=node,
                           creating_location_group=process[0])
    stream = d.location("CUDA[0:0]", type=LocationType.ACCELERATOR_STREAM, group=gpu)
    d.group("", group_type=GroupType.COMM_LOCATIONS, members=host, paradigm=Paradigm.MPI)
    d.group("", group_type=GroupType.COMM_LOCATIONS, members=[host[0], stream], paradigm=Paradigm.CUDA)
    pair = {p: d.comm("", group=d.group("", group_type=GroupType.COMM_GROUP, members=[0, 1], paradigm=p))
            for p in (Paradigm.MPI, Paradigm.CUDA)}
    window = d.rma_win("CUDA window", comm=pair[Paradigm.CUDA])
    wait, send = (d.region(n, paradigm=Paradigm.MPI) for n in ("MPI_Wait", "MPI_Send"))
    e, f, g = (w.event_writer_from_location(x) for x in host + [stream])
    f.enter(50000, send)
    f.mpi_send(50000, 0, pair[Paradigm.MPI], 1, 8)
    f.leave(50100, send)
    e.enter(100000, wait)
    for k in range(5000):
        g.rma_put(150000 + k, window, 0, 8, k)
    for k in range(5000):
        g.rma_op_complete_blocking(400000, window, k)
    e.mpi_recv(400000, 1, pair[Paradigm.MPI], 1, 8)
    e.leave(400000, wait)
    e.enter(500000, wait)
    f.enter(570000, send)
    f.mpi_send(570000, 0, pair[Paradigm.MPI], 1, 8)
    f.leave(570100, send)
    e.mpi_recv(600000, 1, pair[Paradigm.MPI], 1, 8)
    e.leave(600000, wait)
END
tool "$dir/waits/traces.otf2" --convert "$dir/waits.stf"
expect_status 0
expect_no_line 'do not fit' "$dir/err"
tool "$dir/waits.stf" --analyze
expect_status 0
expect_lines 1 '^"late sender' "$dir/out"
expect_line '^"late sender" 0:0 *MPI:MPI_Wait *1 7e-05 ' "$dir/out"
verdict "stftool: of 5000 copies at a time all arrive, and the analysis takes none for a message that came late"

# what has no place in an STF trace is counted, by kind
"$python" -B - "$dir/lossy" <<'END' 2>"$dir/warn"
import sys
import otf2
with otf2.writer.open(sys.argv[1], timer_resolution=10**9) as w:
    d = w.definitions
    group = d.location_group("P", system_tree_parent=d.system_tree_node("n"))
    size = d.attribute("ALLOCATION_SIZE", "", otf2.Type.UINT64)
    e = w.event_writer("Master thread", group=group)
    plain, lines = d.region("plain"), d.region("lines", source_file="a.c", begin_line_number=7, end_line_number=9)
    wait = d.region("wait", region_role=otf2.RegionRole.BARRIER)
    for k, r in enumerate((plain, lines, wait)):
        e.enter(10 * k + 1, r, attributes={size: 5} if k < 2 else None)
        e.leave(10 * k + 2, r)
    e.mpi_collective_begin(50)
END
tool "$dir/lossy/traces.otf2" --convert "$dir/lossy.stf"
expect_status 0
expect_line ' 1 collective operations have a begin only;' "$dir/err"
expect_line '; STF has no place for 2 attributes of events, 1 roles of regions, 1 source lines of regions, 1 names' \
	"$dir/err"
tool "$dir/lossy.stf" --convert "$dir/back.otf2"
tool "$dir/back.otf2" --convert "$dir/back.stf"
expect_no_line 'STF has no place' "$dir/err"
verdict "stftool: attributes, roles, lines and names that an STF trace does not hold are counted"
done_testing
