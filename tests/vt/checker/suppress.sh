#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# libVTmc: CHECK-SUPPRESS, the file of what is not reported. TAP.
# shellcheck source=../lib/mpi_lib.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/vt/lib/mpi_lib.sh"
cd "$dir" || exit 99
cp "$src/tests/vt/checker/programs/suppress.c" 'süße ringe.c' || exit 99
"$MPICC" -g -O0 -w -o 'mit süß' 'süße ringe.c' || exit 99

# suppressing OPTION...: runs the program with the lines of the file `gut & böse`; output in out
suppressing()
{
	timeout 100 $MPIRUN -np 2 "$build/vtrun" --check-mpi --check-max-errors 0 "$@" -- "./mit süß" >out 2>&1
	status=$?
}

suppressing
expect [ "$status" -ne 0 ]
expect_line '^\[1\] ERROR: LOCAL:MPI:CALL_FAILED: error$' out
expect_line '^\[1\] ERROR: GLOBAL:MSG:DATATYPE:MISMATCH: error$' out
expect_line ' with tag 0 by MPI_Send   wrong_type (süße ringe\.c:23)$' out
expect_line '^\[[01]\] ERROR: GLOBAL:COLLECTIVE:DATATYPE:MISMATCH: error$' out
expect_line '^\[[01]\] ERROR: LOCAL:WINDOW:EPOCH: error$' out
expect_line '2 communicators are not freed before MPI_Finalize$' out
expect_line '1 message was sent to this rank and never received$' out
expect_no_line 'CHECK-SUPPRESS' out
verdict "without the file all are reported"

cat >'gut & böse' <<'END'
# what we know already
LOCAL:MPI:CALL_FAILED wrong_tag *

GLOBAL:MSG:*          MPI_Recv "süße ringe.c"   # two patterns in one
*COLLECTIVE:*         wrong_*  "süße ringe.c:*"
LOCAL:WINDOW:EPOCH * *
GLOBAL:MSG:PENDING not_received *
LOCAL:OBJECT:NOT_FREED left_by_library *
LOCAL:MPI:* * "süße ringe.c" # another one matches before it
*                     nobody   *
END
suppressing --check-suppress 'gut & böse' --check-json reports.json
expect_status 0
expect_no_line 'ERROR' out
expect_line '^\[[01]\] WARNING:    1 communicator is not freed before MPI_Finalize$' out
expect_line '^\[[01]\] WARNING:    made by MPI_Comm_dup   left (süße ringe\.c:[0-9]*)$' out
expect_no_line 'left_by_library' out
expect_line '^\[0\] INFO: 0 errors, 2 warnings in [0-9]* calls of 2 ranks$' out
expect_line '^\[0\] INFO:    LOCAL:OBJECT:NOT_FREED: 2, ranks 0-1$' out
expect_line '^\[0\] INFO:    suppressed by CHECK-SUPPRESS: [0-9]*, ranks 0-1$' out
expect $PYTHON3 -c 'import json
assert {json.loads(line)["type"] for line in open("reports.json", encoding="utf-8")} == {"LOCAL:OBJECT:NOT_FREED"}'
verdict "reports that match are not printed, and do not count; what else a list has stays"
expect_lines 1 'gut & böse:10: no report matches \* nobody \*$' out
expect_lines 1 'no report matches' out
verdict "a line that matched nothing is named once"
expect_line '^rank 1 has 42$' out
verdict "a call is made, if its report is suppressed and MPI can make it"

VT_CHECK_SUPPRESS='gut & böse' suppressing
expect_status 0
expect_no_line 'ERROR' out
mkdir -p locales
if command -v localedef >/dev/null && { localedef -c -i de_DE -f UTF-8 "$dir/locales/de_DE.UTF-8" >/dev/null 2>&1 ||
	[ -e "$dir/locales/de_DE.UTF-8/LC_NUMERIC" ]; }; then
	LOCPATH=$dir/locales LC_ALL=de_DE.UTF-8 suppressing --check-suppress 'gut & böse'
	expect_status 0
	expect_no_line 'ERROR' out
	expect_line '^\[0\] INFO: 0 errors, 2 warnings in [0-9]* calls of 2 ranks$' out
	verdict "by variable, and in a German locale"
else
	skip "by variable, and in a German locale" "localedef has no de_DE (Debian: locales)"
fi

echo 'LOCAL:EXIT:* * *' >fatal
echo '#include <mpi.h>
int main(void) { return MPI_Init(0, 0); }' >early.c
expect "$MPICC" -w -o early early.c
timeout 60 $MPIRUN -np 1 "$build/vtrun" --check-mpi --check-suppress fatal -- ./early >out 2>&1
expect [ $? -ne 0 ]
expect_line '^\[0\] ERROR: LOCAL:EXIT:BEFORE_MPI_FINALIZE: fatal error$' out
verdict "a fatal error is reported whatever the file has"

# refused WHY: nothing runs, and one line says why
refused()
{
	expect [ "$status" -eq 2 ]
	expect_line "^vtrun: CHECK-SUPPRESS: $1" out
	expect_no_line 'rank [01] has' out
}

printf '* * *\n* main\n' >short
mkdir -p folder
mkfifo pipe
suppressing --check-suppress 'nicht da'
refused 'cannot read nicht da: No such file'
suppressing --check-suppress folder
refused 'folder is no file of text$'
suppressing --check-suppress pipe
refused 'pipe is no file of text$'
suppressing --check-suppress /proc/self/mem
refused 'cannot read /proc/self/mem: Input/output error$'
suppressing --check-suppress short
refused 'short:2: a pattern is missing: a line has a class, a function and a source, like '
echo '* "main *' >quote
suppressing --check-suppress quote
refused 'quote:1: a quote is not ended$'
suppressing --check-suppress=
expect [ "$status" -eq 2 ]
expect_line 'needs a value$' out
verdict "a file that cannot be used is refused, with its name, line and the reason"
for option in '--check-suppress short' '--check-max-errors=3' '--check LOCAL:** off' '--check-tracing'; do
	# shellcheck disable=SC2086
	"$build/vtrun" $option -- ./early >out 2>&1
	expect [ $? -eq 2 ]
	expect_line "^vtrun: ${option%%[ =]*} has an effect only with --check-mpi, or in a program" out
done
expect "$MPICC" -w -o linked early.c -Wl,--no-as-needed "$build/.libs/libVTmc.so"
printf '#!/bin/sh\nexec ./linked\n' >script
chmod +x script
for program in ./linked ./script; do
	LD_LIBRARY_PATH=$build/.libs timeout 60 $MPIRUN -np 1 "$build/vtrun" --check-max-errors 3 -- $program >out 2>&1
	expect_line 'LOCAL:EXIT:BEFORE_MPI_FINALIZE: fatal error$' out
done
verdict "an option of libVTmc is refused where that library is not"
done_testing
