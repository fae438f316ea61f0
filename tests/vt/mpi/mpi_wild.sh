#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# MPI programs that do it otherwise, other tools beside the library, and the options that name ranks: PROCESS, CLUSTER,
# GROUP. TAP.
# shellcheck source=../lib/mpi_lib.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/vt/lib/mpi_lib.sh"
mpicxx=$(echo "$MPICC" | sed 's/mpicc\([^/]*\)$/mpicxx\1/')
mpifort=$(echo "$MPICC" | sed 's/mpicc\([^/]*\)$/mpifort\1/')
mpi_compile "$MPICC" mpi/programs/mpi_odd.c odd &&
	mpi_compile "$MPICC" mpi/programs/mpi_odd.c oddvt -DWITH_VT -Wl,--no-as-needed -lVT &&
	mpi_compile "$MPICC" mpi/programs/mpi_tool.c libtool.so -shared -fPIC &&
	mpi_compile "$MPICC" mpi/programs/mpi_odd.c oddtool -Wl,--no-as-needed -L. -ltool -Wl,-rpath,"$dir" &&
	mpi_compile "$MPICC" api/programs/arguments.c argumentsvt -DWITH_MPI -Wl,--no-as-needed -lVT || echo "Bail \
out! $(cat out)"

bare() # bare WORDS...: runs them by two ranks without vtrun
{
	clean
	timeout 300 "$MPIRUN" -np 2 "$@" >out 2>&1
}
own() # own WORDS...: what the run printed, sorted, is these lines
{
	grep -v ' Tickmark ' out | grep . | LC_ALL=C sort >printed
	printf '%s\n' "$@" | LC_ALL=C sort >want
	diff want printed >>out
}

# ---- programs that know nothing of it ----

for what in null 'level 0' 'level 3' inter; do
	# shellcheck disable=SC2086
	timeout 300 "$MPIRUN" -np 2 ./odd $what 2>&1 | LC_ALL=C sort >without
	# shellcheck disable=SC2086
	expect run 2 ./odd $what
	expect_line 'rank 1 start 0' without
	expect_same without output
	expect one_trace odd 2
	verdict "the same output, and a trace: $what"
done

# ---- another tool ----

tool_counts='tool: 1 start, 0 sends
tool: 1 start, 10 sends
rank 0 of 2 got 0
rank 1 of 2 got 7
rank 0 start 0, level 0, -1
rank 1 start 0, level 0, -1'
beside() # beside NAME TRACE WORDS...
{
	name=$1 trace=$2
	shift 2
	expect bare "$@"
	expect own "$tool_counts"
	expect one_trace "$trace" 2
	verdict "$name"
}
beside "a tool that is preloaded before a program linked with -lVT" oddvt env LD_PRELOAD="$dir/libtool.so" ./oddvt
beside "a program linked with a tool, under vtrun" oddtool "$vtrun" -- ./oddtool
beside "a tool that is preloaded, under vtrun" odd env LD_PRELOAD="$dir/libtool.so" "$vtrun" -- ./odd

# ---- which library ----

mkdir -p deep
printf '#include <mpi.h>\nvoid start(void);\nvoid start(void) { MPI_Init(0, 0); MPI_Finalize(); }\n' >deep.c
printf 'void start(void);\nint main(void) { start(); return 0; }\n' >shallow.c
# shellcheck disable=SC2086
expect "$MPICC" $san -shared -fPIC deep.c -o deep/libdeep.so >out 2>&1
expect ${CC:-cc} $san shallow.c -o shallow -Ldeep -ldeep -Wl,-rpath,"$dir/deep" \
	-Wl,--unresolved-symbols=ignore-in-shared-libs >out 2>&1
expect bare "$vtrun" -- ./shallow
expect one_trace shallow 2
verdict "a program that links MPI through another library"
case $MPICC in
*mpich*) other=mpicc.openmpi ;;
*) other=mpicc.mpich ;;
esac
if command -v $other >/dev/null && [ -z "$san" ] && $other "$here/mpi/programs/mpi_odd.c" -o stranger >out 2>&1; then
	clean
	expect timeout 300 "$vtrun" -- ./stranger >out 2>&1
	expect_lines 1 \
		'vtrun: ./stranger uses libmpi.*\.so.* is made for libmpi.*: its processes are recorded one by one' out
	expect_line '^rank 0 of 1 got 0$' out
	expect [ "$(find . -name 'stranger*.stf' | wc -l)" -eq 1 ]
	verdict "a program of another MPI runs, is recorded for itself, and that is reported"
else
	skip "a program of another MPI" "no other MPI here, or the libraries are sanitized"
fi

# ---- several programs in one job ----

# programs WORDS...: a job with libVT on some ranks only, which prints what it prints without; a trace of two ranks. The
# program that has no libVT sends messages and computes sums with the other.
programs()
{
	clean
	timeout 120 "$MPIRUN" "$@" >out 2>&1 && grep -v ' Tickmark ' out | grep . | LC_ALL=C sort >printed &&
		diff without printed >>out &&
		[ "$(grep -c 'WARNING: only 2 of 4 ranks of this job have libVT' out)" -eq 1 ] &&
		[ "$(find . -name '*.stf' | wc -l)" -eq 1 ] &&
		! ls VT-* >>out 2>&1 && "$build/stftool" odd*.stf --verify >>out 2>&1 &&
		"$build/stftool" odd*.stf --print-threads >threads 2>>out && [ "$(awk '$3 ~ /^0:/ && $4 != "unknown" {
		printf "%s ", substr($3, 3) }' threads)" = "$want " ]
}
if [ $mpi = openmpi ] && ! starts_several; then
	skip "jobs of two programs" "$several_why"
elif [ $mpi = openmpi ]; then
	clean
	timeout 120 "$MPIRUN" -np 2 ./odd inter : -np 2 ./odd inter 2>&1 | grep . | LC_ALL=C sort >without
	want='0 1'
	programs -np 2 "$vtrun" -- ./odd inter : -np 2 ./odd inter
	ok "a job of two programs, the first one under vtrun" $?
	want='2 3'
	programs -np 2 ./odd inter : -np 2 "$vtrun" -- ./odd inter
	ok "a job of two programs, the second one under vtrun" $?
	programs -np 2 ./odd inter : -np 2 ./oddvt inter
	ok "a job of two programs, one of them linked with -lVT" $?
	clean
	expect timeout 120 "$MPIRUN" -np 2 "$vtrun" -- ./odd inter : -np 2 ./oddvt inter >out 2>&1
	grep -v ' Tickmark ' out | grep . | LC_ALL=C expect sort >printed
	expect_same without printed
	expect_no_line 'WARNING: only' out
	expect_not ls VT-* >>out 2>&1
	expect [ "$(find . -name '*.stf' | wc -l)" -eq 1 ]
	expect [ "$("$build/xstftool" odd*.stf 2>>out | sed -n 's/^NCPUS //p' | wc -w)" -eq 4 ]
	expect [ -s odd.clk ]
	verdict "both have libVT: one corrected trace of all ranks"
else
	skip "a job of several programs, some without libVT" "only Open MPI says that there are several"
fi

# ---- families ----

timeout 60 "$MPIRUN" -np 2 ./odd spawn >without 2>&1
if [ "$(grep -c '^child [01] is [23] of all, sum 6$' without)" -eq 2 ]; then
	bare ./oddvt spawn && [ "$(grep -cE '^(parent|child) [01] is [0-3] of all, sum 6$' out)" -eq 4 ] &&
		ls ./*.stf >>out &&
		[ "$(find . -name '*.stf' | wc -l)" -eq 2 ] && (for t in oddvt.stf oddvt-spawned-*.stf; do
		"$build/stftool" "$t" --verify >>out 2>&1 && [ "$("$build/xstftool" "$t" 2>>out | sed -n 's/^NCPUS '\
'//p' | wc -w)" -eq 2 ] &&
			[ -s "${t%.stf}.clk" ] && [ "$(grep -c '^INFO NUMPROCS 2$' "${t%.stf}.prot")" -eq 1 ] || exit 1
	done) && ! grep 'WARNING: MPI_Comm_spawn' out
	ok "processes that MPI_Comm_spawn starts have a trace of their own" $?
	expect bare "$vtrun" -- ./odd spawn
	expect [ "$(grep -cE '^(parent|child) [01] is [0-3] of all, sum 6$' out)" -eq 4 ]
	expect one_trace odd 2
	expect_lines 1 \
		'WARNING: MPI_Comm_spawn starts ./odd, whose ranks are recorded only if it is linked with -lVT$' out
	verdict "and without libVT no trace, which one line says"
else
	skip "MPI_Comm_spawn" "this MPI cannot do it here"
fi

# ---- VT_initialize and VT_finalize instead of MPI's ----

for what in vtinit vtfirst vtfini vtends; do
	sum=1 over=0 level=0
	[ $what != vtinit ] || sum=0 over=1 level=1
	expect bare ./oddvt $what
	expect own "rank 0 start 0, level $level, -1" "rank 1 start 0, level $level, -1" \
		"rank 0: MPI is over $over, sum $sum" "rank 1: MPI is over $over, sum $sum"
	expect one_trace oddvt 2
	samples oddvt.stf | awk '{ print $1, $2, $NF }' | LC_ALL=C expect sort >have
	printf '%s\n' '0:0 Odd:value 3fe0000000000000' '0:0 Odd:value 401e000000000000' \
		'1:0 Odd:value 3ff8000000000000' \
			'1:0 Odd:value 401e000000000000' | expect diff - have >>out
	expect_line ' "P0 ThreadA"$' threads
	expect_line ' "P1 ThreadA"$' threads
	verdict "VT_finalize, the callback before it, a name with the process's number: $what"
done
VT_THREAD_LEVEL=3 expect bare ./oddvt vtinit
expect_line '^rank 1 start 0, level 3, -1$' out
VT_THREAD_LEVEL=0 expect bare ./oddvt vtinit
expect_line -E '^rank 1 start 0, level [01], -1$' out
verdict "VT_THREAD_LEVEL is what VT_initialize asks of MPI"

# ---- programs of others, in each language ----

wild() # wild NAME COMPILER LIBRARY STARTER...
{
	name=$1 compiler=$2 library=$3
	shift 3
	if ! command -v "$compiler" >/dev/null; then
		skip "$name" "no $compiler here"
		return
	fi
	mpi_compile "$compiler" api/programs/wild_user.c wild -DWITH_MPI "-l$library" && clean &&
		SAY=$dir/say timeout 300 "$MPIRUN" -np 2 "$@" ./wild >out 2>&1
	rc=$?
	cat say.* | awk '{ for (i = 6; i <= 8; i++) $i = tolower($i) } 1' | LC_ALL=C sort >want
	if [ "$library$*" = VTnull ]; then
		[ $rc -eq 0 ] && ! ls ./*.stf >/dev/null 2>&1
	else
		[ $rc -eq 0 ] && [ -s want ] && one_trace wild 2 && samples wild.stf | LC_ALL=C sort >have &&
			diff want have >>out
	fi
	ok "$name" $?
}
wild "a program of others in C with -lVT" "$MPICC" VT
wild "and by vtrun" "$MPICC" VT "$vtrun" --
wild "with -lVTnull" "$MPICC" VTnull
wild "with -lVTnull, by vtrun" "$MPICC" VTnull "$vtrun" --
wild "in C++ with -lVT" "$mpicxx" VT
if [ "${FC:-no}" != no ] && command -v "$mpifort" >/dev/null; then
	# ranks 0 and 1 get from each other; of each what it got times 10, or 100, and the turn
	mpi_compile "$mpifort" mpi/fortran/mpi_f08.f90 f08 -lVT
	if [ -x f08 ]; then
		expect bare ./f08
		expect own 'rank 0 got 1 5 6' 'rank 1 got 0 5 6'
		expect one_trace f08 2
		samples f08.stf | awk '{ print $1, $NF }' | LC_ALL=C expect sort >have
		printf '%s\n' '0:0 4026000000000000' '0:0 4028000000000000' '0:0 402a000000000000' \
			'0:0 402c000000000000' '0:0 402e000000000000' \
				'1:0 3ff0000000000000' '1:0 4000000000000000' '1:0 4008000000000000' \
				'1:0 4010000000000000' '1:0 4014000000000000' | expect diff - have >>out
		verdict "Fortran 2008 bindings"
	else
		skip "Fortran 2008 bindings" "this MPI has no module mpi_f08 for this compiler"
	fi
	expect mpi_compile "$mpifort" mpi/fortran/mpi_f77.f f77 -std=legacy -w -lVT
	expect bare ./f77
	expect own 'rank 0 got 1' 'rank 1 got 0'
	expect one_trace f77 2
	samples f77.stf | awk '{ print $1, $NF }' | LC_ALL=C expect sort >have
	printf '%s\n' '0:0 0000000000000065' '0:0 0000000000000066' '0:0 0000000000000067' '1:0 0000000000000001' \
		'1:0 0000000000000002' \
			'1:0 0000000000000003' | expect diff - have >>out
	verdict "Fortran 77"
	mpi_compile "$mpifort" api/programs/arguments.f90 fargumentsvt -DWITH_MPI -cpp -Wl,--no-as-needed -lVT
fi

# ---- command lines ----

for program in argumentsvt fargumentsvt; do
	if [ -x $program ] && { [ $program = argumentsvt ] || ldd $program | grep -q libgfortran; }; then
		expect bare ./$program a --itc-args --logfile-name named.stf --itc-args-end 'b c'
		expect own '[a]' '[a]' '[b c]' '[b c]'
		expect one_trace named 2
		verdict "--itc-args without vtrun: $program"
	else
		skip "--itc-args without vtrun: $program" "no gfortran with a shared run time here"
	fi
done

# ---- PROCESS, CLUSTER ----

mpi_compile "$MPICC" api/programs/wild_user.c wild -DWITH_MPI -lVT
ranks_of() # ranks_of TRACE: the ranks that have samples of anything
{
	"$build/tests/vt/lib/samples" "$1" 2>>out | sed -n 's/^\([0-9]*\):.*/\1/p' | sort -un | tr '\n' ' '
}
none() # none WANT: of the four ranks these have samples, all have threads, and the node has its counters
{
	one_trace wild 4 && [ "$(ranks_of wild.stf)" = "$1" ] && "$build/tests/vt/lib/samples" wild.stf |
		grep -q '^node OS:cpu_idle '
}
# the sampler has samples of each rank from before MPI_Init on, where the words are reported
printf 'PROCESS 0:N no\nPROCESS 0:N:2, 1:1:1 on\n' >conf
SAY=$dir/say VT_CONFIG=$dir/conf expect run 4 ./wild
expect none '0 1 2 '
verdict "PROCESS no, and the guide's example of triplets, a blank in it: nothing of rank 3 is left"
SAY=$dir/say VT_PROCESS='1:2 discard' expect run 4 ./wild
expect none '0 3 '
expect [ "$("$build/xstftool" wild.stf | grep -c '^INFO CLASS "discarded" TEXT "rank [12] on ')" -eq 2 ]
verdict "PROCESS discard: nothing of two ranks, and the trace says why"
SAY=$dir/say VT_CLUSTER='0 no' expect run 4 ./wild
expect none ''
verdict "CLUSTER no: the counters of the node alone"
printf 'PROCESS 0:N no\nPROCESS 1:x on\nPROCESS 1:1 on maybe\nPROCESS 3:2\nCLUSTER zero off\nPROCESS 0:0 on\n' >conf
SAY=$dir/say VT_CONFIG=$dir/conf VT_PROCESS='2 on;2:2 no' expect run 3 ./wild
expect one_trace wild 3
samples wild.stf | cut -d: -f1 | sort | expect uniq -c >have
expect [ "$(tr -s ' \n' ' ' <have)" = ' 15 0 ' ]
grep -c ": left out$" out | expect_line -x 4 -
expect_line "$dir/conf:2: PROCESS 1:x on: '1:x' is neither START\[:STOP\[:STEP\]\]" out
expect_line "$dir/conf:3: PROCESS 1:1 on maybe: 'maybe' " out
expect_line "$dir/conf:4: PROCESS 3:2: '3:2' " out
expect_line "$dir/conf:5: CLUSTER zero off: 'zero' " out
verdict \
	"lines that are none are reported once, with their place, and the others are used; a variable is read after \
the file"

printf 'Counter CPU_Idle On\nprocess 1:n No\nlogfile-name Mixed.stf\nGroup Low 0\nGROUP lower LOW\n' >conf
SAY=$dir/say VT_CONFIG=$dir/conf expect run 2 ./wild
expect one_trace Mixed 2
expect [ "$("$build/xstftool" Mixed.stf | grep -c '^DEFCOUNTER OS:cpu_idle ')" -eq 1 ]
expect [ "$(ranks_of Mixed.stf)" = '0 ' ]
"$build/xstftool" Mixed.stf | expect_line -x 'DEFGROUP lower NMEMBS 1 "Low"' -
verdict "but for the names of files, upper and lower case are alike"

# a program that is linked with MPI and never calls MPI_Init: 100 calls of f(), and 10 after VT_traceon()
# shellcheck disable=SC2086
"$MPICC" $san -g -finstrument-functions -I"$src/include" "$here/mpi/programs/mpi_alone.c" \
	-o alone -Wl,--no-as-needed -L"$lib" \
	-lVT -Wl,-rpath,"$lib" >out 2>&1
have=
for words in 'PROCESS 0:N on' 'PROCESS 0:N off' 'PROCESS 0:N no' 'CLUSTER 0 off' 'CLUSTER 0 discard' \
	'PROCESS 1:N no'; do
	clean
	echo "$words" >conf
	VT_CONFIG=conf timeout 100 "$vtrun" ./alone >out 2>&1 || have="$have failed"
	have="$have $("$build/xstftool" alone.stf 2>>out | grep -c ' FUNCTION "[^"]*:f"$')$("$build/xstftool" \
		alone.stf 2>>out | grep '^INFO CLASS "discarded"' | sed 's/.*/d/')"
done
echo "calls of f:$have" >>out
[ "$have" = ' 110 10 0d 10 0d 110' ]
ok "PROCESS and CLUSTER in a program with libVT that never calls MPI_Init" $?
clean
printf 'CLUSTER 0 no\nPROCESS 1 x\n' >conf
VT_CONFIG=conf timeout 300 "$MPIRUN" -np 2 "$vtrun" ./alone >out 2>&1
expect [ $? -eq 0 ]
expect_lines 1 'WARNING: CLUSTER 0 no (conf:1): the program did not call MPI_Init' out
expect_lines 1 "vtrun: conf:2: PROCESS 1 x: 'x' " out
verdict "several such programs: CLUSTER has no effect, and a message says so"

# ---- GROUP, and the protocol as a configuration file ----

printf \
	'GROUP odd 1:N:2\nGROUP even 0:N:2\nGROUP "odd even" odd,even\nGROUP itself itself\nGROUP more "odd even" , 0 '\
'nobody\nGROUP far 7:9\nGROUP here %s, Odd\nGROUP all all_processes\n' \
	"$(uname -n)" >conf
VT_GROUP='one 1;"t w o" "odd even" one' VT_CONFIG=$dir/conf expect run 2 ./odd
expect one_trace odd 2
"$build/xstftool" odd.stf | expect grep '^DEFGROUP ' >groups
expect_lines 3 ' Tickmark WARNING: GROUP .*; this rule is ignored' out
expect_line "GROUP itself itself ($dir/conf:4): 'itself' " out
expect_line "($dir/conf:5): 'nobody' " out
expect_line "($dir/conf:6): '7:9' " out
expect cat groups >>out
expect_line -E '^DEFGROUP odd NMEMBS [0-9]+( [0-9]+:1)+$' groups
expect_line -E '^DEFGROUP even NMEMBS [0-9]+( [0-9]+:0)+$' groups
expect_line -x 'DEFGROUP "odd even" NMEMBS 2 "odd" "even"' groups
expect_line -E '^DEFGROUP here .* "odd"$' groups
expect_line -x 'DEFGROUP "t w o" NMEMBS 2 "odd even" "one"' groups
expect_no_line -E '^DEFGROUP (itself|more|far) ' groups
verdict "GROUP: the guide's example, groups of groups, of itself, of nobody, hosts, blanks in names"
cp odd.prot protocol
grep -vE '^(GROUP (itself|more|far) |#)' protocol | grep -v '^INFO' >first
cp groups groups.first
VT_CONFIG=$dir/protocol expect run 2 ./odd
expect one_trace odd 2
"$build/xstftool" odd.stf | expect grep '^DEFGROUP ' >groups
expect cut -d' ' -f1,2 groups.first >want
cut -d' ' -f1,2 groups | expect diff want - >>out
grep -vE '^(GROUP (itself|more|far) |#)' odd.prot | expect grep -v '^INFO' >second
LC_ALL=C expect sort first >want
LC_ALL=C sort second | expect diff want - >>out
expect_lines 1 '^INFO NUMPROCS ' odd.prot
expect_line -E '^# configuration file \(.*/protocol:[0-9]+\)$' odd.prot
verdict "the protocol as a configuration file: the same groups, the same options, and its own INFO lines only"

# ---- a name that is taken meanwhile ----

run 2 ./odd taken odd.stf
rc=$?
cat out >>kept
expect [ $rc -eq 0 ]
expect_empty odd.stf
expect_lines 1 'WARNING: .*/odd.stf: exists already' out
expect rm odd.stf
t=$(ls odd-*.stf) || not_met "t is known"
expect one_trace "${t%.stf}" 2
expect [ -s "${t%.stf}.prot" ]
verdict "a trace whose name another run has taken meanwhile gets another one"

done_testing
