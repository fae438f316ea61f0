#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# timertest compares the clock of a GPU with the host's: offset and drift are within their bounds, its .clk file puts
# stamps of the GPU to the host's clock, and a GPU that is gone is an error. With a libcuda.so.1 that is ours
# (tests/unit/timers/sources/cuda_stub.c), whose clock is known. TAP.
# shellcheck source=../../lib/tap.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/lib/tap.sh"
cd "$dir" || exit 99
mkdir lib
${CC:-cc} -D_GNU_SOURCE -shared -fPIC -I"$src" -o lib/libcuda.so.1 \
	"$src/tests/unit/timers/sources/cuda_stub.c" -lpthread || exit 99

compare_clock() # compare_clock NAME=NUMBER...: timertest with a GPU whose clock is so
{
	env LD_LIBRARY_PATH="$dir/lib" "$@" "$build/timertestcs" --timer cuda_globaltimer --state-dir "" --force \
		--performance-time 0.02 3 1 >out 2>err
	status=$?
}

within() # within OFFSET_S DRIFT_PPM: are both within the bounds that are printed?
{
	sed -n 's/.* ahead of clock_monotonic_raw by \(.*\) at the .*; drift \(.*\), the mean .*/\1 \2/p' out >line
	awk -v offset="$1" -v drift="$2" '
		function distance(a, b) { return a > b ? a - b : b - a }
		function seconds(t) { return t * (t ~ /ns/ ? 1e-9 : t ~ /us/ ? 1e-6 : t ~ /ms/ ? 1e-3 : 1) }
		# "1000.000000123 s +- 5.6us +0.123 ppm +- 1.200 ppm"; its drift began a while before
		distance($1, offset) <= seconds($4) + 60e-6 * drift && distance($5, drift) <= $8 { good = 1 }
		END { exit !good }' line
}

compare_clock CUDA_STUB_offset_ns=1000000000000 CUDA_STUB_step_ns=1000 CUDA_STUB_delay_ns=2000
expect_status 0
expect within 1000 0
expect_line '^clock of rank 0 is steered: read [0-9]* times beside clock_monotonic_raw, set 0 times' out
verdict "offset and drift of an even clock are within their bounds"

# a reading in the middle of the run: the stamp of the GPU, and the host's clock before and after it, from the anchor on
awk '/^pair/ { pair[n++] = $0 }
	/^anchor/ && !zero { zero = $2 }
	END { split(pair[int(n / 2)], p, " "); print "ts\n" p[2] >"log.csv"
		printf "%.9f,%.9f\n", (p[3] - zero) * 1e-9, (p[4] - zero) * 1e-9 }' timertest.clk >host
"$build/clkapply" timertest.clk log.csv --column ts --unit ns --rank 0 >corrected 2>err
status=$?
expect_status 0
expect awk -F , 'NR == 1 { low = $1; high = $2 }
	NR == 3 { good = $2 >= low - $3 && $2 <= high + $3 && $3 < 0.01 }
	END { exit !good }' host corrected
verdict "clkapply puts a stamp of the GPU to the host's clock, with its bound"

compare_clock CUDA_STUB_ppb=400000 CUDA_STUB_late_every=50 CUDA_STUB_late_ns=2000000
expect_status 0
expect within 0 400
verdict "a clock that is 400 ppm too fast, with late answers"

compare_clock CUDA_STUB_mute_after=3500
expect_status 2
expect_line 'timer cuda_globaltimer:0: the GPU has not answered for 1 s; nvidia-smi shows' err
expect_no_line 'verdict' out
verdict "a GPU that answers no more is an error, and there is no result"

compare_clock CUDA_STUB_lost_after=3500
expect_status 2
expect_line 'timer cuda_globaltimer:0: the GPU was lost (CUDA error 719)' err
verdict "a GPU that is lost is an error"

"$build/timertestcs" --timer LIST >out 2>&1
status=$?
expect_status 0
expect_line '^cuda_globaltimer:0  *-  *process  *unavailable: libcuda.so.1 is not here' out
verdict "without a driver it is listed with the reason"
done_testing
