#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# quickstart in a tree whose build, mpirun and timertest are stand-ins: what is under test is what
# it runs, in which order, how often, and what it makes of exit statuses.

setup()
{
	tree=$BATS_TEST_TMPDIR/a\ tree
	mkdir -p "$tree/m4" "$tree/base" "$BATS_TEST_TMPDIR/bin"
	cp "${top_srcdir:-$BATS_TEST_DIRNAME/../..}/quickstart" "$tree/"
	chmod u+wx "$tree/quickstart"
	cd "$tree"
	touch configure.ac Makefile.am m4/tickmark.m4 base/Makefile.inc.am
	calls=$BATS_TEST_TMPDIR/calls
	XDG_DATA_HOME=$BATS_TEST_TMPDIR/share
	export calls XDG_DATA_HOME
	: >"$calls"
	script bootstrap 'echo bootstrap >>"$calls"; touch Makefile.in
		printf "%s\n" "#!/bin/sh" "echo configure >>\"\$calls\"; cp ../fake.mk Makefile; touch config.status" '\
'>configure
		chmod +x configure'
	cat >fake.mk <<'EOF'
all: timertest
timertest: ../fake-timertest
	cp ../fake-timertest $@; echo compile >>"$$calls"
check:
	@mkdir -p t; printf ':test-result: PASS a\n:test-result: SKIP b\n' >t/a.trs
	@printf ':test-result: %s c\n:test-result: PASS d\n' $${third:-PASS} >t/b.trs; echo "first log" >t/b.log
	@for i in $$more; do echo ':test-result: FAIL f' >t/$$i.trs; done
	@test -z "$$third"
recheck:
	@echo "recheck $$(cat t/b.log)" >>"$$calls"; printf ':test-result: %s c\n:test-result: PASS d\n' $${second:-PASS} >t/b.trs; test -z "$$second"
install: all
	@b="$${prefix:-$$XDG_DATA_HOME/tickmark}/bin"; mkdir -p "$$b" calib/timertest; cp timertest "$$b/"; exit $${install_status:-0}
bench:
	@echo "a.figure	1	ns	1	1	3"
EOF
	script fake-timertest 'test "$VT_TIMER" = LIST && { echo "CPU: fine"; exit 0; }
		echo "args: $*"; echo "verdict: CPU is ${word:-fit}"
		echo "print 1" >timertest-here/timertest.gnuplot; exit ${fake_status:-0}'
	script ../bin/mpirun 'test "$1" = --version && { echo "mpirun (Open MPI) 4.1.4"; exit; }
		echo "mpirun $*" >>"$calls"; while [ "$1" != -np ]; do shift; done; shift 2; exec "$@"'
	script ../bin/gnuplot 'echo "gnuplot $*" >>"$calls"; echo "one.svg: offsets"; exit ${gnuplot_status:-0}'
	script ../bin/dpkg-query 'for p; do :; done
		case " ${absent:-} " in *" $p "*) exit 1 ;; *) printf installed ;; esac'
	script ../bin/apt-get 'echo "apt-get $*" >>"$calls"; exit 100'
	script ../bin/apt-cache 'exit 0'
	script ../bin/sudo '[ "$1" != -n ] || shift; echo "sudo $*" >>"$calls"; exec "$@"'
	PATH=$BATS_TEST_TMPDIR/bin:$PATH
	unset MAKEFLAGS MFLAGS MAKELEVEL
}

script()
{
	printf '#!/bin/sh\n%s\n' "$2" >"$1"
	chmod +x "$1"
}

@test "build: sets up once, and does nothing the second time" {
	run ./quickstart build
	[ "$status" -eq 0 ]
	[ "$(tr '\n' ' ' <"$calls")" = "bootstrap configure compile " ]
	: >"$calls"
	cd /
	run "$tree/quickstart" build
	[ "$status" -eq 0 ]
	[ ! -s "$calls" ]
}

@test "build: a changed fragment or configure.ac makes configure again" {
	./quickstart build
	: >"$calls"
	touch -d '+1 minute' base/Makefile.inc.am
	run ./quickstart build
	[ "$status" -eq 0 ]
	grep -q bootstrap "$calls"
	grep -q configure "$calls"
}

@test "run: lists the timers, measures, draws, ends with the verdict and the files" {
	run ./quickstart
	[ "$status" -eq 0 ]
	[[ "$output" == *"CPU: fine"*"args: 6 2 --force --output timertest-here/timertest"* ]]
	[[ "$output" == \
		*$'\nverdict: CPU is fit\nwhat was printed '*"    one.svg: offsets"$'\n'"to use the \
programs"*"env.sh'" ]]
	grep -q 'gnuplot timertest.gnuplot' "$calls"
	grep -q 'verdict: CPU is fit' timertest-here/timertest.txt
}

@test "run: not fit is a finding, not a failure" {
	fake_status=1 word='not fit' run ./quickstart run
	[ "$status" -eq 0 ]
	[[ "$output" == *"verdict: CPU is not fit"*"a finding"* ]]
}

@test "run: not known to be fit is a finding, not a failure" {
	fake_status=3 word='not known to be fit' run ./quickstart run
	[ "$status" -eq 0 ]
	[[ "$output" == *"verdict: CPU is not known to be fit"*"what was missing"* ]]
}

@test "run: a timertest that fails is a failure" {
	fake_status=2 run ./quickstart
	[ "$status" -eq 1 ]
	[[ "$output" == *"timertest ended with status 2"* ]]
}

@test "run: a gnuplot that fails is a failure" {
	gnuplot_status=1 run ./quickstart
	[ "$status" -eq 1 ]
	[[ "$output" == *"gnuplot timertest-here/timertest.gnuplot failed"* ]]
}

@test "check: the last line counts, the status is that of make check" {
	run ./quickstart check
	[ "$status" -eq 0 ]
	[ "${lines[-1]}" = "3 passed, 0 failed, 1 skipped" ]
	[ ! -e build/t/b.first.log ]
	third=ERROR second=FAIL run ./quickstart check
	[ "$status" -ne 0 ]
	[ "${lines[-1]}" = "2 passed, 1 failed, 1 skipped" ]
}

@test "check: what fails runs once more, and is named" {
	third=FAIL run ./quickstart check
	[ "$status" -eq 0 ]
	[ "${lines[-2]}" = "quickstart: failed at first, a defect to be found: $tree/build/t/b.first.log" ]
	[ "${lines[-1]}" = "3 passed, 0 failed, 1 skipped" ]
	[ "$(cat build/t/b.first.log)" = "first log" ]
	[ "$(grep -c recheck "$calls")" -eq 1 ]
}

@test "check: more than three that fail do not run again" {
	: >"$calls"
	third=FAIL more='x y z' run ./quickstart check
	[ "$status" -ne 0 ]
	[ "${lines[-1]}" = "2 passed, 4 failed, 1 skipped" ]
	! grep recheck "$calls"
}

@test "check: results of tests that are gone are not counted" {
	./quickstart build
	mkdir -p build/t && echo ':test-result: FAIL old' >build/t/old.trs
	run ./quickstart check
	[ "${lines[-1]}" = "3 passed, 0 failed, 1 skipped" ]
}

@test "bench: prints the figures" {
	run ./quickstart bench
	[ "$status" -eq 0 ]
	[ "${lines[-1]}" = $'a.figure\t1\tns\t1\t1\t3' ]
}

@test "--no-install: names what is missing and stops before any work" {
	absent='gcc gnuplot-nox bats' run ./quickstart --no-install
	[ "$status" -eq 1 ]
	[ "$output" = "quickstart: missing Debian packages: gcc" ]
	absent='gcc bats' run ./quickstart check --no-install
	[ "$output" = "quickstart: missing Debian packages: gcc bats" ]
	[ ! -s "$calls" ]
	[ ! -e build ]
}

@test "a package that cannot be fetched: one update, then a clear error" {
	absent=gcc run ./quickstart build
	[ "$status" -eq 1 ]
	[[ "$output" == *"Is there a network"*"--no-install-recommends gcc" ]]
	[ "$(grep -c '^apt-get .*update' "$calls")" -eq 1 ]
	! grep -q bootstrap "$calls"
}

@test "a user who is not root installs through sudo" {
	script ../bin/id 'echo 1000'
	script ../bin/apt-get 'echo "apt-get $*" >>"$calls"; : >"$calls.installed"'
	script ../bin/dpkg-query 'for p; do :; done
		[ "$p" = gcc ] && [ ! -e "$calls.installed" ] && exit 1; printf installed'
	run ./quickstart build
	[ "$status" -eq 0 ]
	grep -q 'sudo env DEBIAN_FRONTEND=noninteractive apt-get .*install -y .*gcc$' "$calls"
	! grep -q 'apt-get .*update' "$calls"
	grep -q compile "$calls"
}

@test "elsewhere than on Debian it says so and goes on if the tools are there" {
	mkdir "$BATS_TEST_TMPDIR/tools"
	for tool in sh env dirname id cat find mkdir touch chmod make cp sed grep tr nproc; do
		ln -s "$(command -v $tool)" "$BATS_TEST_TMPDIR/tools/"
	done
	for tool in gcc autoreconf automake libtoolize pkg-config; do
		script "$BATS_TEST_TMPDIR/tools/$tool" true
	done
	PATH=$BATS_TEST_TMPDIR/tools run ./quickstart build
	[ "$status" -eq 0 ]
	[[ "$output" == *"this is no Debian system"*"no mpirun"*"built in $tree/build"* ]]
	PATH=$BATS_TEST_TMPDIR/tools run ./quickstart
	[ "$status" -eq 1 ]
	[[ "$output" == *"mpirun was not found"* ]]
	rm "$BATS_TEST_TMPDIR/tools/automake"
	PATH=$BATS_TEST_TMPDIR/tools run ./quickstart build
	[ "$status" -eq 1 ]
	[[ "$output" == *"missing: automake."* ]]
}

@test "a bootstrap, configure or make that fails stops it" {
	script bootstrap 'echo broken; exit 1'
	run ./quickstart
	[ "$status" -eq 1 ]
	[[ "$output" == *"broken"*"./bootstrap failed"* ]]
}

@test "a tree that cannot be written is named" {
	locked=$(mktemp -d)
	cp -r "$tree/." "$BATS_TEST_TMPDIR/bin" "$locked"
	chmod -R a+rX,a-w "$locked"
	as=
	[ "$(id -u)" -ne 0 ] || as="setpriv --reuid 65534 --regid 65534 --clear-groups"
	calls=/dev/null run $as env PATH="$locked/bin:$PATH" "$locked/quickstart" build
	chmod -R u+w "$locked" && rm -rf "$locked"
	[ "$status" -eq 1 ]
	[[ "$output" == *"cannot write in $locked"* ]]
}

@test "usage" {
	run ./quickstart --help
	[ "$status" -eq 0 ]
	[[ "$output" == "usage: ./quickstart [build|check|bench|run] [--no-install]"* ]]
	run ./quickstart buidl
	[ "$status" -eq 2 ]
	[ "$output" = "quickstart: unknown argument buidl (./quickstart --help)" ]
}

@test "build: after env.sh programs, manuals, pkg-config files and libraries are found" {
	run ./quickstart build
	[ "$status" -eq 0 ]
	# the printed line works as it is, in a path with a blank and from another folder
	line=$(printf '%s\n' "$output" | sed -n 's/^to use the programs and their manuals in this shell:   //p')
	cd /
	run \
		sh \
		-c \
		"$line"' && command -v timertest && echo "$MANPATH" && echo "$PKG_CONFIG_PATH" && '\
'echo "$LD_LIBRARY_PATH" && echo "$PYTHONPATH" && echo "$XDG_DATA_DIRS" && echo "$PATH"'
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = "$XDG_DATA_HOME/tickmark/bin/timertest" ]
	[[ "${lines[1]}" == "$XDG_DATA_HOME/tickmark/share/man:"* ]]
	[[ "${lines[2]}" == "$XDG_DATA_HOME/tickmark/lib/pkgconfig"* ]]
	# a program linked with -lVT starts in this shell
	[[ "${lines[3]}" == "$XDG_DATA_HOME/tickmark/lib"* ]]
	[[ "${lines[4]}" == "$XDG_DATA_HOME/tickmark/share/tickmark/python"* ]]
	# bash-completion looks there; without the variable it would look in the two others
	[[ "${lines[5]}" == "$XDG_DATA_HOME/tickmark/share:"* ]]
	# tickmark-clockd
	[[ "${lines[6]}" == *"$XDG_DATA_HOME/tickmark/sbin:"* ]]
	[[ "$(XDG_DATA_DIRS='' sh -c "$line"' && echo "$XDG_DATA_DIRS"')" == *":/usr/local/share:/usr/share" ]]
}

@test "build: env.sh leads a zsh to the completions, before its compinit and after" {
	command -v zsh >/dev/null || skip "no zsh"
	run ./quickstart build
	[ "$status" -eq 0 ]
	mkdir -p "$XDG_DATA_HOME/tickmark/share/zsh/site-functions"
	cp "${top_srcdir:-.}/tools/completion/zsh/_tickmark" "$XDG_DATA_HOME/tickmark/share/zsh/site-functions/"
	for order in '. ./env.sh; autoload -Uz compinit; compinit -u -D' \
		'autoload -Uz compinit; compinit -u -D; . ./env.sh'; do
		run zsh -fc "$order"'; print $_comps[vtrun] $_comps[tickmark-clockd]'
		[ "$output" = "_tickmark _tickmark" ]
	done
}

@test "build: installs into the tree, or to XDG_DATA_HOME where the path of the tree has a blank" {
	cp -r "$tree" "$BATS_TEST_TMPDIR/tree"
	prefix=$BATS_TEST_TMPDIR/tree/install run "$BATS_TEST_TMPDIR/tree/quickstart" build
	[ "$status" -eq 0 ]
	[[ "$output" == *"make install (in $BATS_TEST_TMPDIR/tree/install)"* ]]
	grep -qx "tickmark_prefix='$BATS_TEST_TMPDIR/tree/install'" "$BATS_TEST_TMPDIR/tree/env.sh"
	XDG_DATA_HOME="/nowhere/a b" run ./quickstart build
	[ "$status" -eq 1 ]
	[[ "$output" == *"set XDG_DATA_HOME to a folder without"* ]]
}

@test "a folder in which configure cannot build is named before any work" {
	cp -r "$tree" "$BATS_TEST_TMPDIR/it's"
	run "$BATS_TEST_TMPDIR/it's/quickstart" build
	[ "$status" -eq 1 ]
	[[ "$output" == *"configure cannot build in a folder with one of"* ]]
	[ ! -s "$calls" ]
}

@test "build: an installation that fails is an error" {
	install_status=1 run ./quickstart build
	[ "$status" -eq 1 ]
	[[ "$output" == *"make install failed"* ]]
	[ ! -e env.sh ]
}
