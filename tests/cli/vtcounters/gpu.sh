#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The counters of GPUs in programs: vtcounters lists them, vtrun records them, and the trace says that a GPU was lost.
# With a library of the name of NVML that is ours (tests/unit/sampler/gpu). TAP.
. "${top_srcdir:-.}/tests/lib/tap.sh"
cd "$dir" || exit 99
mkdir lib
${CC:-cc} -D_GNU_SOURCE -shared -fPIC -I"$src" -o lib/libnvidia-ml.so.1 \
	"$src/tests/unit/sampler/gpu/nvml_stub.c" || exit 99
LD_LIBRARY_PATH=$dir/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
VT_FORCE=on
export LD_LIBRARY_PATH VT_FORCE

"$build/vtcounters" 'nvml_*:*' >out 2>err
status=$?
expect_status 0
expect_line '^nvml_power:GPU-aaaa  *node  *W (mW) .* power of NVIDIA Stub' out
expect_line '^nvml_energy_age:GPU-bbbb ' out
expect_line '^nvml_pcie_tx:GPU-aaaa ' out
verdict "vtcounters lists the counters of each GPU"
"$build/vtcounters" nvml_power:GPU-none >out 2>&1
status=$?
expect_status 0
expect_line 'no GPU GPU-none here now: nvidia-smi -L' out
verdict "a GPU that is not there is named, with the way out"
"$build/vtcounters" --fast 'nvml_*' >out 2>&1
status=$?
expect_status 0
expect_line '^nvml_power ' out
verdict "a fast list"

STUB_LOST_MS=500 "$build/vtrun" --sample-period 20ms --counter 'nvml_energy:*' --counter nvml_power:GPU-aaaa \
	-- sleep 1.5 >out 2>&1
status=$?
expect_status 0
"$build/stftool" sleep.stf --dump >dump 2>&1
expect_line 'counter nvml_power:GPU-aaaa: goes on from a new start: a device came or went' dump
expect_line 'DEFCOUNTER .*"nvml_energy_age:GPU-bbbb"' dump
verdict "vtrun records them with their age; the trace says when a GPU was lost"
STUB_LOST_MS=500 "$build/vtrun" --sample-period 20ms --counter nvml_power:GPU-aaaa -- sleep 1.5 >out 2>&1
"$build/stftool" sleep.stf --dump >dump 2>&1
expect_line 'counter nvml_power:GPU-aaaa: goes on from a new start: a device came or went' dump
verdict "also if it was the only one"

# in a program of the user's: it says whether it has the library, and how many threads
${CC:-cc} "$src/tests/cli/vtcounters/gpu_calls.c" -o calls -I"$src" -L"$build/.libs" -lVTcs \
	-Wl,-rpath,"$build/.libs" >out 2>&1
status=$?
expect_status 0
verdict "a program that makes VT_ calls is built"
VT_SAMPLE_PERIOD=20ms "$build/vtrun" --counter nvml_power:GPU-aaaa --counter nvml_temp --counter 'nvml_energy:*' \
	--counter nvml_power:GPU-none -- ./calls >out 2>&1
status=$?
expect_status 0
expect_line '^NVML is not loaded' out
expect_line 'counter nvml_power:GPU-none: there is no GPU GPU-none here now' out
expect_no_line "WARNING.*nvml_[te]" out
"$build/stftool" calls.stf --dump >dump 2>&1
expect_line 'DEFCOUNTER .*"nvml_energy:GPU-bbbb"' dump
verdict "NVML is called outside the program only, and what is missing is said"
VT_SAMPLE_PERIOD=20ms "$build/vtrun" --sampler thread --counter nvml_temp --counter 'nvml_energy:*' \
	--counter 'nvml_*' -- ./calls >out 2>&1
status=$?
expect_status 0
expect_line '^NVML is not loaded' out
expect_line 'WARNING: counter nvml_temp: a thread inside the program samples it' out
expect_line 'WARNING: COUNTER nvml_energy:\*: a thread inside the program samples it' out
expect_line 'WARNING: COUNTER nvml_\*: a thread inside the program samples it' out
"$build/stftool" calls.stf --dump >dump 2>&1
expect_line 'counter nvml_power: a thread inside the program samples it' dump
expect_no_line 'DEFCOUNTER .*"nvml' dump
verdict "sampled by a thread of the program they are refused, with the way out"
done_testing
