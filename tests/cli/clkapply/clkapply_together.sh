#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# clkapply --together: profiles of four ranks in one zip for Perfetto, and who came last to collective operations. TAP.
# shellcheck source=../../lib/tap.sh source-path=SCRIPTDIR disable=SC2154
. "${top_srcdir:-.}/tests/lib/tap.sh"
[ "${PYTHON3:-no}" != no ] || skip_all "no Python 3"
py=$src/tests/cli/clkapply/clkapply_together.py
cd "$dir" || exit 99
"$PYTHON3" "$py" make . || exit 99
if ! "$build/clkapply" c.clk r0.json --output x.json >out 2>err && grep -q 'needs zlib' err; then
	skip_all "built without zlib"
fi

together() # together NAME: NAME0.json to NAME3.json into NAME.zip, the table is in out
{
	rm -f "$1.zip"
	"$build/clkapply" c.clk "${1}0.json" "${1}1.json" "${1}2.json" "${1}3.json" --together "$1.zip" >out 2>err
	expect [ $? -eq 0 ]
	expect_empty err
}

right_table() # right_table OPERATIONS FIRST: out is right; FIRST is the number of the first one
{
	expect "$PYTHON3" "$py" table out "$1" "$2" >judged 2>&1
	sed 's/^/# /' judged
}

together r
expect "$PYTHON3" "$py" zip r.zip >judged 2>&1
sed 's/^/# /' judged
expect "$PYTHON3" -m zipfile -t r.zip >judged 2>&1
verdict "a zip that Perfetto reads: one axis and base, a machine for each rank, each time right"
right_table 120 1
expect_line '^# 120 collective operations by their kernels on the GPU: 100 certain, 20 undecidable$' out
expect_line '^# r1.json: 1440 stamps corrected, 1 stamps of 0 not changed, bound at most' out
verdict "who came last, where the clocks can tell"
together bases
expect "$PYTHON3" "$py" zip bases.zip >judged 2>&1
right_table 120 1
verdict "files of different bases, and without one, get the same"
for f in cpu c10d; do
	together $f
	right_table 120 0
done
verdict "rows of the host, without numbers: the n-th of each rank"
together groups
right_table 120 0
verdict "several process groups"
together short
right_table 105 1
expect_line '^# 15 more are not in the files of all ranks' out
verdict "operations that one file lacks are not judged, and the numbers show it"
for f in plain differ; do
	together $f
	expect_line '^# 0 collective operations by their' out
	expect_line '^# 120 more are not in the files of all ranks' out
done
verdict "what may not belong together is not judged"
gzip -k r1.json
mkdir -p a b
cp r0.json a/.hidden.json
cp r1.json.gz b/x.json.gz
"$build/clkapply" c.clk a/.hidden.json b/x.json.gz --together two.zip >out 2>err
expect [ $? -eq 0 ]
expect "$PYTHON3" "$py" zip two.zip >judged 2>&1
expect_line '^# 120 more are not in the files of all ranks of their group' out
"$PYTHON3" -m zipfile -l two.zip >out
expect_line '^rank0/_.hidden.json ' out
expect_line '^rank1/x.json ' out
verdict "compressed files, and names that Perfetto would skip"

refuse() # refuse STATUS PATTERN ARGUMENT...: no zip, nothing half-written
{
	wanted=$1 pattern=$2
	shift 2
	rm -f refused.zip
	"$build/clkapply" c.clk --together refused.zip "$@" >out 2>err
	status=$?
	expect_status "$wanted"
	expect_line "$pattern" err
	expect_empty out
	expect [ ! -e refused.zip ]
	expect [ -z "$(ls -A | grep '^\.refused\|refused.*tmp')" ]
}

head -c 20000 r3.json >cut.json
refuse 1 'cut.json: offset 20000: the file ends within' r0.json r1.json cut.json
sed 's/"distributedInfo": {[^}]*},//' r2.json >norank.json
refuse 2 'norank.json does not say which rank.*--together needs distributedInfo or host_name' r0.json norank.json
cp r0.json b/
refuse 2 'r0.json and b/r0.json are both of rank 0 and have one name' r0.json b/r0.json
refuse 2 'takes the ranks from the files' r0.json --rank 1
refuse 2 'together is for .json and .json.gz, which' r0.json c.clk
refuse 1 'missing.json' r0.json missing.json
: >taken.zip
"$build/clkapply" c.clk r0.json --together taken.zip >out 2>err
expect [ $? -eq 1 ]
expect_empty taken.zip
verdict "what cannot be put together is refused, and nothing is written"
sed 's/"rank": 3/"rank": 9/' r3.json >r9.json
refuse 2 'has no rank 9' r0.json r1.json r9.json
"$build/clkapply" c.clk r0.json r1.json r2.json r9.json --together nine.zip --unbounded >out 2>err
status=$?
expect_status 3
expect_line 'r9.json is copied with unchanged stamps: c.clk has no rank 9' err
expect_line '^# 120 collective operations .* 0 certain, 120 undecidable$' out
expect_line '^"0 \[0, 1, 2, 3]",1,"all_reduce",4,.*,,undecidable$' out
"$PYTHON3" -m zipfile -e nine.zip nine
expect_line '"tickmark":{"bound_ns":null,"unbounded":true,"timer":"","rank":9}' nine/rank9/r9.json
expect_no_line bound_ns nine/perfetto_manifest.json
verdict "--unbounded: a rank without a clock makes each order undecidable"
for k in 1 2; do
	"$PYTHON3" "$src/tests/cli/clkapply/clkapply_json.py" large large$k.json 50
	sed -i 's/"distributedInfo": {"rank": 0}/"distributedInfo": {"rank": '$k'}/' large$k.json
done
expect "$PYTHON3" - "$build/clkapply" <<'END' >out 2>&1
import resource, subprocess, sys
subprocess.run([sys.argv[1], "c.clk", "large1.json", "large2.json", "--together", "large.zip"], check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(f"{used.ru_maxrss / 1024:.1f} MiB, {used.ru_utime + used.ru_stime:.2f} s of CPU for 2 x 50 MiB")
sys.exit(used.ru_maxrss > 64 << 10)
END
expect_line '^# no collective operation of PyTorch' out
expect "$PYTHON3" -m zipfile -t large.zip >judged 2>&1
sed 's/^/# /' out
verdict "100 MiB in at most 64 MiB of memory"
done_testing
