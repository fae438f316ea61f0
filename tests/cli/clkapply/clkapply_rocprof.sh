#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# clkapply on the JSON of rocprofv3: times of records and of the process change, each is right, nothing else. TAP.
# shellcheck source=../../lib/tap.sh source-path=SCRIPTDIR disable=SC2154
. "${top_srcdir:-.}/tests/lib/tap.sh"
[ "${PYTHON3:-no}" != no ] || skip_all "no Python 3"
cd "$dir" || exit 99
"$PYTHON3" "$src/tests/cli/clkapply/clkapply_perfetto.py" make . || exit 99
# the name of each record is its true time; what is called alike elsewhere is none
cat >rocprof.py <<'END'
import gzip, json, re, sys
sys.path.insert(0, sys.argv[1] + "/tests/cli/clkapply")
from clkapply_perfetto import BOOT0, boot
TIMES = re.compile(r'("(?:start_timestamp|end_timestamp|timestamp|init_time|fini_time)": ?)([0-9]+)')

def make(node='"node": {"id": 3, "hostname": "nodetwo"}, '):
    def span(t, more=""):
        return '{"size": 80, "start_timestamp": %d, "end_timestamp":%d, "thread_id": %d%s}' % (boot(t), boot(t + 700), t, more)
    kernels = ", ".join(span(10 ** 7 + k * 10 ** 8, ', "correlation_id": {"internal": %d, "external": 0}' % k) for k in range(900))
    calls = ",\n".join(span(5 * 10 ** 6 + k * 10 ** 8) for k in range(900))
    samples = ", ".join('{"record": {"timestamp": %d, "exec_mask": 1}, "thread_id": %d}' % (boot(k * 10 ** 7), k * 10 ** 7)
                        for k in range(1, 50))
    return ('{"rocprofiler-sdk-tool": [{"metadata": {%s"pid": 7, "init_time": %d, "fini_time": %d, "config": {"timestamp": 99}}, '
            '"agents": [{"timestamp": 5}], "strings": {"a\\"b": ["start_timestamp"]},\n"callback_records": {"counter_collection": '
            '[{"dispatch_data": %s}]}, "buffer_records": {"kernel_dispatch": [%s], "hip_api": [%s], "memory_copy": [], '
            '"pc_sample_host_trap": [%s], "scratch": [{"start_timestamp": 0}]}, "summary": [{"sum": 12345}]}]}\n'
            % (node, boot(10 ** 6), boot(95 * 10 ** 9), span(3 * 10 ** 9), kernels, calls, samples))

def read(path):
    return (gzip.open if path.endswith(".gz") else open)(path, "rb").read().decode()

def spans(v):
    if isinstance(v, dict):
        if "thread_id" in v:
            yield v
        v = list(v.values())
    for x in v if isinstance(v, list) else []:
        yield from spans(x)

if sys.argv[2] == "make":
    open("r.json", "w").write(make())
    gzip.open("r.json.gz", "wt").write(make())
    open("alone.json", "w").write(make(""))
    open("two.json", "w").write(make()[:-3] + "," + make()[25:].replace("nodetwo", "nodeone"))
else:
    a, b = read(sys.argv[3]), read(sys.argv[4])
    mark = re.match(r'\{"tickmark":\{"bound_ns":([0-9]+),"timer":"clock_boottime","rank":1\},', b)
    b = "{" + b[mark.end():]
    assert TIMES.sub(r"\1", a) == TIMES.sub(r"\1", b)
    x, n = json.loads(b), 0
    json.loads(read(sys.argv[4]))
    for v in spans(x):
        true = BOOT0[0] + v["thread_id"]
        for key, at in (("start_timestamp", true), ("end_timestamp", true + 700), ("timestamp", true)):
            for r in (v, v.get("record", {})):
                if key in r:
                    assert abs(r[key] - at) <= 1, (v, at)
                    n += 1
    tool = x["rocprofiler-sdk-tool"][0]
    assert abs(tool["metadata"]["init_time"] - BOOT0[0] - 10 ** 6) <= 1 and tool["metadata"]["config"]["timestamp"] == 99
    assert abs(tool["metadata"]["fini_time"] - BOOT0[0] - 95 * 10 ** 9) <= 1 and tool["agents"][0]["timestamp"] == 5
    assert tool["buffer_records"]["scratch"][0]["start_timestamp"] == 0
    print(n, "times right to 1 ns, bound", mark.group(1), "ns")
END
"$PYTHON3" rocprof.py "$src" make || exit 99
if ! "$build/clkapply" p.clk r.json --output x.json >out 2>err && grep -q 'needs zlib' err; then
	skip_all "built without zlib"
fi
right() # right FILE COPY OPTION...
{
	file=$1 copy=$2
	shift 2
	rm -f "$copy"
	"$build/clkapply" p.clk "$file" --output "$copy" "$@" >out 2>err
	expect [ $? -eq 0 ]
	expect_empty err
	expect_line "^$copy: 3653 stamps corrected, 1 stamps of 0 not changed, bound at most" out
	expect "$PYTHON3" rocprof.py "$src" judge "$file" "$copy" >judged 2>&1
	expect_line '^3651 times' judged
	sed 's/^/# /' judged
}

right r.json copy.json
right r.json.gz copy.json.gz
right alone.json copy.json --rank 1
verdict "times change by both ends, all else stays; the host says the rank"
refuse() # refuse STATUS PATTERN FILE OPTION...
{
	wanted=$1 pattern=$2
	shift 2
	rm -f refused.json
	"$build/clkapply" p.clk "$@" --output refused.json >out 2>err
	status=$?
	expect_status "$wanted"
	expect_line "$pattern" err
	expect [ ! -e refused.json ]
}

refuse 2 'alone.json does not say which rank' alone.json
refuse 1 'two.json: offset [0-9]*: processes of two hosts' two.json
refuse 1 'copy.json: offset 2: the file is corrected already' copy.json --rank 1
sed 's/"end_timestamp":[0-9]*/"end_timestamp":12.5/' r.json >damaged.json
refuse 1 'damaged.json: offset [0-9]*: a time that is no whole number of ns' damaged.json
head -c 3000 r.json >damaged.json
refuse 1 'damaged.json: offset 3000: the file ends within a value' damaged.json
echo '{"rocprofiler-sdk-tool": []}' >damaged.json
refuse 1 'damaged.json has no record with a stamp' damaged.json --rank 1
verdict "what is unclear or damaged is refused"
"$build/clkapply" p.clk alone.json --output copy.json --force --unbounded >out 2>err
status=$?
expect_status 3
sed '1s/"tickmark":{"bound_ns":null,"unbounded":true,"timer":"","rank":-1},//' copy.json >plain.json
expect_same alone.json plain.json
verdict "--unbounded copies it unchanged, and says so"
done_testing
