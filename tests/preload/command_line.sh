#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What is wrong on vtrun's command line ends with 2 before the program starts; what is missing is made. TAP.
. "${top_srcdir:-.}/tests/preload/lib.sh"

refused() # refused PATTERN OPTION...: status 2, the program did not run, standard error has the pattern
{
	pattern=$1
	shift
	fresh
	timeout 60 "$build/vtrun" "$@" -- touch ran >"$dir/out" 2>"$dir/err" </dev/null
	status=$?
	expect_status 2
	expect_not [ -e ran ]
	expect_line -e "$pattern" "$dir/err"
	expect_lines 1 . "$dir/err"
}

refused '^vtrun: --counter: no counter has the name no_such;' --counter no_such
verdict "a counter that no source has"
refused 'the name cpu_idel; did you mean cpu_idle' --counter cpu_idel
refused 'the name psi; did you mean psi_' --counter 'cpu_usr' --counter +psi
verdict "a counter that is nearly one, or a part of one"
refused '^vtrun: --timer: unknown timer .CPUU.' --timer CPUU
refused '^vtrun: --timer: timer CPU takes no argument' --timer CPU:1
verdict "a timer that does not exist, or not so"
refused '^vtrun: --config: cannot open no such.conf: No such file' --config 'no such.conf'
verdict "a configuration file that is not there"
refused '^vtrun: --logfile-name: cannot make the folder /proc/no: No such file' --logfile-name /proc/no/a.stf
refused '^vtrun: --flush-prefix: cannot make the folder /proc/no: No such file' --flush-prefix /proc/no
refused '^vtrun: --logfile-prefix: cannot make the folder .*/null/x: Not a directory' --logfile-prefix /dev/null/x
verdict "folders that cannot be made"
refused '20 of which unit? 20ms, 20s' --sample-period 20
verdict "a time without a unit"

fresh
options='--logfile-name deep/er/a.stf --flush-prefix raw/here'
sampled true
expect_status 0
expect valid deep/er/a.stf
expect [ -d raw/here ]
options='--current-dir new --logfile-prefix below'
sampled true
expect_status 0
expect valid new/below/true.stf
verdict "missing folders of the trace are made"

options='--counter cpu_idle --sample-period 20ms'
fresh
sampled sleep 0.1
expect valid sleep.stf
expect_no_line ' proc_usr ' "$dir/counters"
options='--counter +perf_page_faults:process --counter +cpu_iowait --sample-period 20ms'
sampled sleep 0.1
expect valid sleep-1.stf
expect_line ' cpu_iowait ' "$dir/counters"
expect_line ' proc_usr ' "$dir/counters"
verdict "a counter with a plus is added to the standard ones; without, it replaces them"

# rules that may mean the program's own counters are no error
options="--counter '*' off --counter mine"
fresh
timeout 60 "$build/vtrun" --counter '*' off --counter mine -- true >"$dir/out" 2>"$dir/err"
status=$?
expect_status 0
options='--counter sde:::mine --counter a::b'
sampled true
expect_status 0
for timer in MPI_Wtime LIST; do
	options="--timer $timer"
	sampled true
	expect_status 0
done
verdict "names that only the program can know"
options='--plugin ./no_such.so --counter mine'
sampled true
expect_status 2
expect_line 'PLUGIN: .*no_such.so: cannot open' "$dir/err"
expect_line 'no counter has the name mine' "$dir/err"
verdict "a counter of a plugin that cannot be loaded"

options=
fresh
sampled no_such_program
expect_status 127
expect_line '^vtrun: cannot run no_such_program: no folder of PATH has it$' "$dir/err"
cp /bin/true here
sampled here
expect_status 127
expect_line 'no folder of PATH has it; this folder has: \./here$' "$dir/err"
verdict "a program that PATH does not have"

mkdir bin
printf '#!/bin/sh\nexec true\n' >bin/mpirun
chmod +x bin/mpirun
PATH=$PWD/bin:$PATH
sampled mpirun -np 2 ./here arg
expect_status 0
expect_line 'records mpirun itself .*: mpirun -np 2 vtrun -- ./here arg$' "$dir/err"
options=--follow-children
sampled mpirun -np 2 ./here
expect_no_line 'itself' "$dir/err"
verdict "a launcher under vtrun is hinted at"

# what a program finds in its folder is its own
fresh
options=
mkdir sub
for i in 1 2 3; do echo data >d$i.dat; done
cat >look.sh <<'END'
cat *.dat
ls | grep -v prot
echo [!s]*
find . -name '*.dat' | sort
END
sh look.sh >"$dir/plain"
sampled sh look.sh
expect_status 0
expect_same "$dir/plain" "$dir/out"
expect valid sh.stf
rm -r sh.*
sampled sh -c 'rm -rf ./*; sleep 0.1'
expect valid sh.stf
verdict "raw files are none that *.dat, ls, find or rm * of the program meet"

done_testing
