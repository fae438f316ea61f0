# shellcheck shell=sh
# SPDX-License-Identifier: BSD-3-Clause
# What the tests of jobs without MPI share; to be sourced. Three hosts, or HOSTS up to 16, have nothing in common but a
# network: private
# folders, clocks 1000 s apart.
program=${program:-steps}
source=${source:-tests/vt/nodes/programs/$program.c}
. "${top_srcdir:-.}/tests/vt/lib/lib.sh"
cd "$dir" || exit 99
grep -q '^#define HAVE_ZMQ ' "$build/config.h" || skip_all "built without libzmq"
why=$(sh "$src/tests/mpi/netns.sh" -- true 2>&1)
[ $? -ne 77 ] || skip_all "$why"
# shellcheck disable=SC2086
if ! "${CC:-cc}" $san -g -I"$include" "$src/$source" -o "$program" -L"$lib" -Wl,-rpath,"$lib" \
	-lVTcs >out 2>&1; then
	cat out
	exit 99
fi

job() # job CASE: what node0 has afterwards is in result/
{
	rm -rf f
	mkdir f
	timeout 120 sh "$src/tests/mpi/netns.sh" -n "${HOSTS:-3}" -o 1000 -- \
		sh "$here/nodes/programs/join_hosts.sh" "$vtrun" "$dir/$program" "$dir/f" "$1" >out 2>&1
	expect [ $? -eq 0 ]
	cat f/out.* f/said >>out 2>/dev/null
}

inside() # the stamps are inside their stated bound of the truth
{
	expect "$build/tests/vt/lib/truth" f/result/steps.stf f/result/steps.clk >truths 2>&1
	cat truths >>out
	sed 's/^/# /' truths
}
