#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Real programs with and without the sampler: the same output and exit status, and a valid trace. Those that are not
# installed are skipped. TAP.
. "${top_srcdir:-.}/tests/preload/lib.sh"
VT_VERBOSE=0
export VT_VERBOSE

needs= # further programs that the next ones need
real() # real NAME TRACE FILTER COMMAND...: output through sed FILTER is the same
{
	name=$1 trace=$2 filter=$3
	shift 3
	for tool in "$1" $needs; do
		if ! command -v "$tool" >/dev/null 2>&1; then
			skip "$name" "$tool is not installed"
			return
		fi
	done
	fresh
	"$@" 2>"$dir/plain.err" </dev/null | sed -E "$filter" >"$dir/plain"
	"$@" >/dev/null 2>&1 </dev/null
	plain=$?
	fresh
	for options in '' '--follow-children --sample-period 20ms'; do
		sampled "$@"
		sed -E "$filter" "$dir/out" >"$dir/got"
		expect_status "$plain"
		expect_same "$dir/plain" "$dir/got"
		expect valid "$trace"
		verdict "$name${options:+, children followed}"
		rm -rf ./*
	done
	options=
}

cat >"$dir/threads.py" <<'END'
import threading, multiprocessing, subprocess, sys, hashlib
def work(n):
    return hashlib.sha256(str(sum(range(n))).encode()).hexdigest()
def main():
    out = [None] * 4
    def run(i): out[i] = work(300000 + i)
    t = [threading.Thread(target=run, args=(i,)) for i in range(4)]
    [x.start() for x in t]; [x.join() for x in t]
    print(out)
    with multiprocessing.Pool(3) as pool:
        print(pool.map(work, range(200000, 200006)))
    print(subprocess.run(['sh', '-c', 'echo child; exit 3'], capture_output=True).returncode)
    sys.exit(5)
main()
END
real "python3 with threads and processes" python3.stf '' python3 "$dir/threads.py"

needs="git"
git init -q "$dir/repo" 2>/dev/null && (cd "$dir/repo" && for i in 1 2 3 4 5 6 7 8; do
	seq $((i * 1000)) >"f$i" && git add . && git -c user.name=a -c user.email=a@b commit -qm "$i"
done)
real "git clone of a local repository" sh.stf '' sh \
	-c 'rm -rf c && git clone -q "$1" c && cd c && git log --format=%H' sh "$dir/repo"
needs="make"
# a part of this project, from configure to objects that are the same to the bit; the compiler's cache would know them
cat >"$dir/build.sh" <<'END'
CCACHE_DISABLE=1
export CCACHE_DISABLE
rm -rf b
mkdir b && cd b && "$1/configure" -q --without-mpi --without-papi --disable-shared 2>&1 &&
	make -s -j2 vtcounters 2>&1 || exit
find . -name '*.o' | sort | xargs cksum
./vtcounters --version
exit 3
END
if [ -x "$src/configure" ]; then
	# which of two compilers says its name first is chance
	real "make -j of this project" sh.stf '/^  [A-Z]+ /d' sh "$dir/build.sh" "$src"
else
	skip "make -j of this project" "no $src/configure: run ./bootstrap"
fi
needs=
real "a shell pipeline" sh.stf '' sh -c 'seq 100000 | sort -n | awk "{ s += \$1 } END { print s }"; exit 4'
real "bash, jobs and traps" bash.stf '' bash \
	-c 'trap "echo end" EXIT; for i in 1 2 3; do (sleep 0.0$i; exit $i) & jobs="$jobs $!"; done
		for j in $jobs; do wait $j; echo $?; done; exit 7'
real "stress-ng" stress-ng.stf 's/.*(successful run completed).*/\1/;/stress-ng: (info|metrc)/d' stress-ng --cpu 2 \
	--vm 1 --vm-bytes 8M --fork 1 --timeout 1 --quiet
real "fio" fio.stf 's/[0-9.]+//g;/./!d;s/.*//' fio --name=t --size=1M --rw=randrw --bs=4k --filename=t.fio --minimal
real "node" node.stf '' node \
	-e \
	'const c=require("crypto");let n=0;for(let i=0;i<4;i++)c.pbkdf2("a","b"+i,20000,32,"sha512",(e,k)=>{n++;'\
'if(n==4){console.log("four");process.exitCode=6}})'
real "a JVM" java.stf '' java -version
done_testing
