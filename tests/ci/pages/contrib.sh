#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The pieces of contrib/, each by its real consumer: a Slurm of one node, promtool, systemd, lmod.
given=${top_builddir:-}
# shellcheck source=../lib/lib.sh source-path=SCRIPTDIR
. "$(dirname "$0")/../lib/lib.sh"
if [ -n "$given" ]; then
	timertest=$given/timertestcs
else
	configured "contrib"
	step "contrib: make" make -j"$jobs" timertestcs tickmark-clockd
	timertest=$PWD/timertestcs
fi
contrib=$top/contrib
failed=0
has()
{
	command -v "$1" >/dev/null 2>&1
}
good() # good LABEL STATUS
{
	if [ "$2" -eq 0 ]; then
		echo "ok: contrib: $1"
	else
		echo "FAIL: contrib: $1"
		tail -n 20 "$work"/*.log 2>/dev/null
		failed=1
	fi
}
skipped()
{
	echo "skipped: contrib: $1"
}

for f in "$contrib"/slurm/*.sh "$contrib"/prometheus/*.sh; do
	sh -n "$f"
	good "$(basename "$f") is a shell script" $?
done
"${PYTHON3:-python3}" -c 'import json, sys; d = json.load(open(sys.argv[1])); assert len(d["panels"]) >= 4' \
	"$contrib/prometheus/tickmark-dashboard.json"
good "the dashboard is JSON" $?
if has npm &&
	(cd "$work" && npm install --no-audit --no-fund --ignore-scripts @grafana/grafana-foundation-sdk@0.0.21 \
	typescript@7 >npm.txt 2>&1); then
	types() # types FILE: is this dashboard one by Grafana's own types?
	{
		{
			cat <<'EOS'
import type { Dashboard } from "@grafana/grafana-foundation-sdk/dashboard";
import type { Dataquery } from "@grafana/grafana-foundation-sdk/cog";
import type { Dataquery as Query } from "@grafana/grafana-foundation-sdk/prometheus";
/* enumerations as the words that they are in JSON, and the queries of this data source */
type Fields<T> = { [K in keyof T]: Plain<T[K]> };
type Plain<T> = T extends string ? `${T}` : T extends (infer U)[] ? Plain<U>[] : T extends Dataquery
	? (Dataquery extends T ? Fields<Omit<Query, "_implementsDataqueryVariant">> : Fields<T>) : T extends object ? Fields<T> : T;
const dashboard: Plain<Dashboard> =
EOS
			cat "$1"
			echo '; export default dashboard;'
		} >"$work/dashboard.ts"
		(cd "$work" && node_modules/.bin/tsc --noEmit --strict --skipLibCheck --module nodenext \
			--moduleResolution nodenext dashboard.ts) >"$work/tsc.log" 2>&1
	}
	types "$contrib/prometheus/tickmark-dashboard.json"
	good "the dashboard is one by Grafana's own types" $?
	for change in 's/"expr": "count/"query": "count/' 's/"absolute"/"any"/' 's/, "overrides": \[\]//'; do
		sed "$change" "$contrib/prometheus/tickmark-dashboard.json" >"$work/changed.json"
		! types "$work/changed.json"
		good "and is none with $change" $?
	done
	rm -f "$work/tsc.log"
else
	skipped "npm could not install Grafana's types"
fi

if has promtool; then
	mkdir "$work/textfile" && TIMERTEST=$timertest XDG_STATE_HOME=$work/none \
		"$contrib/prometheus/tickmark-textfile.sh" "$work/textfile" &&
		promtool check metrics <"$work/textfile/tickmark.prom" >"$work/promtool.log" 2>&1 &&
		[ ! -s "$work/promtool.log" ]
	good "promtool finds nothing in the metrics" $?
	promtool check rules "$contrib/prometheus/tickmark-alerts.yml" >"$work/promtool.log" 2>&1 &&
		promtool test rules "$contrib/prometheus/tickmark-alerts-test.yml" >>"$work/promtool.log" 2>&1
	good "promtool runs the alert rules" $?
else
	skipped "promtool is not installed (Debian: prometheus)"
fi

if has prometheus-node-exporter && [ -s "$work/textfile/tickmark.prom" ]; then
	prometheus-node-exporter --collector.disable-defaults --collector.textfile \
		--collector.textfile.directory="$work/textfile" \
		--web.listen-address=127.0.0.1:0 >"$work/exporter.log" 2>&1 &
	exporter=$!
	tries=0
	until address=$(sed -n 's/.*address=\(127[0-9.]*:[0-9]*\).*/\1/p' "$work/exporter.log" | head -n 1) &&
		[ -n "$address" ] || [ $tries -ge 100 ]; do
		tries=$((tries + 1))
		sleep 0.1
	done
	"${PYTHON3:-python3}" - "http://$address/metrics" "$work/textfile/tickmark.prom" \
		"$contrib/prometheus/tickmark-dashboard.json" "$contrib/prometheus/tickmark-alerts.yml" \
		>"$work/served.log" 2>&1 <<'EOS'
import json, re, sys, urllib.request
served = urllib.request.urlopen(sys.argv[1], timeout=20).read().decode()
value = lambda text: {l.rsplit(" ", 1)[0]: float(l.rsplit(" ", 1)[1]) for l in text.splitlines() if l.startswith("timertest")}
want, got = value(open(sys.argv[2]).read()), value(served)
assert want and want == got, set(want.items()) ^ set(got.items())
assert "node_textfile_scrape_error 0" in served
names = {n.split("{")[0] for n in got}
# what is there only with a stored result, or when a check had a value
names |= {"timertest_result_timestamp_seconds", "timertest_check_value_seconds", "timertest_check_value_ratio", "timertest_check_value_found"}
for file in sys.argv[3:]:
    asked = set(re.findall(r"timertest_[a-z_]+", re.sub(r'"uid": *"[^"]*"', "", open(file).read())))
    assert asked and asked <= names, (file, asked - names)
EOS
	good "node_exporter serves the metrics, and dashboard and alerts ask for no others" $?
	kill "$exporter"
	wait "$exporter" 2>/dev/null
else
	skipped "node_exporter is not installed (Debian: prometheus-node-exporter)"
fi

if has systemd-analyze; then
	cp "$contrib"/systemd/tickmark-* "$work/" &&
		sed -i "s|/usr/share/tickmark/contrib|$contrib|; s|/usr/sbin|${timertest%/*}|" \
		"$work"/tickmark-*.service &&
		systemd-analyze --man=no verify "$work/tickmark-check.service" "$work/tickmark-check.timer" \
		"$work/tickmark-clockd.service" >"$work/systemd.log" 2>&1 &&
		! grep tickmark "$work/systemd.log"
	good "systemd-analyze verifies the units" $?
else
	skipped "systemd-analyze is not installed"
fi
# a systemd of one user instead of the machine's; the paths and the delay by chance are all that is changed
cgroup=$(sed -n 's/^[^ ]* \([^ ]*\) cgroup2 .*/\1/p' /proc/mounts | head -n 1)/tickmark-$$
if [ -x /lib/systemd/systemd ] && has systemctl && has unshare && mkdir "$cgroup" 2>"$work/mkdir.txt"; then
	s=$work/timer
	mkdir -p "$s/config/systemd/user/tickmark-check.timer.d" "$s/node-exporter"
	printf '[Timer]\nRandomizedDelaySec=0\nAccuracySec=1ms\n' \
		>"$s/config/systemd/user/tickmark-check.timer.d/now.conf"
	cp "$contrib/systemd/tickmark-check.timer" "$s/config/systemd/user/"
	sed \
		"s|/usr/share/tickmark/contrib|$contrib|; s|/var/lib/prometheus/node-exporter|$s/node-exporter|; s|\
^Type=.*|&\nEnvironment=TIMERTEST=$timertest|" \
		"$contrib/systemd/tickmark-check.service" >"$s/config/systemd/user/tickmark-check.service"
	# shellcheck disable=SC2016
	timeout -k 5 300 \
		sh \
		-c \
		'echo $$ >"$1/cgroup.procs" && shift && exec unshare --mount --pid --fork --cgroup --kill-child "$@"' \
		sh "$cgroup" \
		sh "$top/tests/ci/machine/timer_inside.sh" "$s" "$s/node-exporter/tickmark.prom" >"$work/timer.log" 2>&1
	status=$?
	if [ $status -eq 77 ]; then
		skipped "no systemd could be started: $(tail -n 1 "$work/timer.log")"
	else
		grep -q '^timertest_check_status{' "$s/node-exporter/tickmark.prom" 2>>"$work/timer.log" &&
			[ $status -eq 0 ]
		good "a systemd starts the check by its timer, and again after ten minutes" $?
	fi
	find "$cgroup" -depth -type d -exec rmdir {} \; 2>>"$work/mkdir.txt"
else
	skipped "no systemd to start (Debian: systemd; as root, with control groups of version 2): \
$(cat "$work/mkdir.txt" 2>/dev/null)"
fi

if [ -r /usr/share/lmod/lmod/init/sh ]; then
	# shellcheck disable=SC1091
	TICKMARK_PREFIX=$work/prefix PATH_NOW=$(. /usr/share/lmod/lmod/init/sh >/dev/null 2>&1
		export TICKMARK_PREFIX="$work/prefix"
		module use "$contrib/lmod" && module load tickmark && echo "$PATH $TICKMARK_PRELOAD")
	case $PATH_NOW in
	*"$work/prefix/bin"*"$work/prefix/lib/libVTcs.so") good "lmod loads the modulefile" 0 ;;
	*)
		echo "$PATH_NOW" >"$work/lmod.log"
		good "lmod loads the modulefile" 1
		;;
	esac
else
	skipped "lmod is not installed"
fi

# ---- formats of --check, each read by who is meant to read it: what was read is compared with the JSON of the same
# kind of run ----
state=$work/state
: >"$work/formats.log"
in_format() # in_format NAME: one failed check at least
{
	TZ=UTC "$timertest" --check --state-dir "$state" -w clock.cost=1ps --format "$1" >"$work/check.$1" \
		2>>"$work/formats.log"
}
in_format json
checks=$("${PYTHON3:-python3}" -c 'import json, sys; print(len(json.load(open(sys.argv[1]))["checks"]))' \
	"$work/check.json")
if perl -MMonitoring::Plugin::Performance -e 1 2>/dev/null; then
	in_format nagios
	values=$("${PYTHON3:-python3}" \
		-c 'import json, sys; print(sum(c["value"] is not None for c in '\
'json.load(open(sys.argv[1]))["checks"]))' "$work/check.json")
	# shellcheck disable=SC2016
	perl -MMonitoring::Plugin::Performance \
		-e '$_ = <STDIN>; s/^TIMERTEST WARNING - [^|]*\|\s*// or die "no status: $_";
		my @p = Monitoring::Plugin::Performance->parse_perfstring($_); my ($c) = grep { $_->label '\
'eq "clock.cost" } @p;
		die scalar(@p) . " values, not $ARGV[0]" unless @p == $ARGV[0];
		die "clock.cost" unless $c->uom eq "us" && $c->value > 0 && $c->threshold->get_status($c->value) == 1' \
		"$values" \
		<"$work/check.nagios" >"$work/perl.log" 2>&1
	good "Nagios's own parser reads --format nagios, and judges the value as we do" $?
else
	skipped "Monitoring::Plugin is not installed (Debian: libmonitoring-plugin-perl)"
fi
if has npm && (cd "$work" && npm install --no-audit --no-fund --ignore-scripts junit2json@3 >npm.txt 2>&1); then
	"$contrib/timertest-junit.py" <"$work/check.json" >"$work/check.junit"
	(cd "$work" && node --input-type=module -e 'import { parse } from "junit2json"; import fs from "fs";
		const s = await parse(fs.readFileSync("check.junit", "utf8")), of = s.testcase.find(c => c.name '\
'=== "clock.cost");
		if (s.testcase.length !== +process.argv[1] || s.tests !== s.testcase.length || !of.failure?.length) '\
'throw JSON.stringify(s);' "$checks") >"$work/junit.log" 2>&1
	good "junit2json reads what timertest-junit.py writes, all checks" $?
else
	skipped "npm could not install junit2json"
fi

# ---- a Slurm of one node ----
if ! has slurmd || ! has slurmctld || ! has munged || [ "$(id -u)" -ne 0 ] || [ ! -r /usr/include/slurm/spank.h ]; then
	skipped "no Slurm to start (Debian: slurmd slurmctld slurm-client libslurm-dev munge; as root)"
	exit $failed
fi
host=$(uname -n)
s=$work/slurm
mkdir -p "$s/state" "$s/spool" "$s/etc"
chmod 755 "$work" "$s"
# shellcheck disable=SC2086
${CC:-cc} -Wall -Werror -shared -fPIC -o "$s/spank_tickmark.so" "$contrib/slurm/spank_tickmark.c" >"$work/spank.log" \
	2>&1
good "the SPANK plug-in compiles" $?
dd if=/dev/urandom of="$s/munge.key" bs=128 count=1 2>/dev/null
chmod 400 "$s/munge.key"
mkdir -p "$s/munge" && chmod 711 "$s/munge"
for script in prolog healthcheck taskprolog; do
	# Slurm gives them no environment
	sed "2a TIMERTEST=$s/timertest TICKMARK_STATE=$s/tickmark SCONTROL=$s/scontrol" "$contrib/slurm/$script.sh" \
		>"$s/$script.sh"
	chmod 755 "$s/$script.sh"
done
printf '#!/bin/sh\nSLURM_CONF=%s exec scontrol "$@"\n' "$s/etc/slurm.conf" >"$s/scontrol"
ln -s "$timertest" "$s/timertest"
chmod 755 "$s/scontrol"
cat >"$s/etc/slurm.conf" <<EOF
ClusterName=one
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$s/munge/socket
CredType=cred/munge
StateSaveLocation=$s/state
SlurmdSpoolDir=$s/spool
SlurmctldPidFile=$s/ctld.pid
SlurmdPidFile=$s/slurmd.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.log
SlurmctldPort=26817
SlurmdPort=26818
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
ReturnToService=2
SlurmdTimeout=300
Prolog=$s/prolog.sh
TaskProlog=$s/taskprolog.sh
HealthCheckProgram=$s/healthcheck.sh
HealthCheckInterval=1
PlugStackConfig=$s/etc/plugstack.conf
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
EOF
: >"$s/etc/plugstack.conf"
export SLURM_CONF=$s/etc/slurm.conf
munged --key-file="$s/munge.key" --socket="$s/munge/socket" --pid-file="$s/munge/pid" --log-file="$work/munge.log" \
	--seed-file="$s/munge/seed" --force >/dev/null 2>&1
daemons=
stop()
{
	# shellcheck disable=SC2086
	kill $daemons $(cat "$s/munge/pid" 2>/dev/null) 2>/dev/null
	wait 2>/dev/null
	chmod -R u+w "$work"
	rm -rf "$work"
}
trap stop EXIT
slurmctld -D >"$work/ctld.out" 2>&1 &
daemons="$daemons $!"
slurmd -D >"$work/slurmd.out" 2>&1 &
daemons="$daemons $!"

until_node() # until_node WORD: its state has it, within 60 s
{
	tries=0
	until scontrol show node "$host" 2>/dev/null | grep -q "State=[^ ]*$1"; do
		tries=$((tries + 1))
		[ $tries -lt 120 ] || return 1
		sleep 0.5
	done
}
job() # job WORDS...: what it prints, within a minute
{
	timeout 60 srun -n 1 "$@" 2>"$work/srun.log"
}

until_node IDLE
good "a node is up" $?
# shellcheck disable=SC2016
[ "$(job sh -c 'echo "timer=$VT_TIMER"')" = "timer=" ]
good "without a stored result jobs have no timer set; the prolog lets them pass" $?

"$timertest" --timer CPU --state-dir "$s/tickmark" --performance-time 0.2s --output "$s/tt" 0.5 0.2 >"$work/tt.log" 2>&1
chmod -R a+rX "$s/tickmark"
if "$timertest" --taskprolog --state-dir "$s/tickmark" | grep -q '^export VT_TIMER=CPU'; then
	# shellcheck disable=SC2016
	[ "$(job sh -c 'echo "timer=$VT_TIMER"')" = "timer=CPU" ]
	good "TaskProlog sets the timer of a fit result" $?
	# shellcheck disable=SC2016
	[ "$(VT_TIMER=mine job sh -c 'echo "timer=$VT_TIMER"')" = "timer=mine" ]
	good "the user's own setting stays" $?
	printf 'required %s timertest=%s state=%s\n' "$s/spank_tickmark.so" "$s/timertest" "$s/tickmark" \
		>"$s/etc/plugstack.conf"
	sed -i '/^TaskProlog/d' "$s/etc/slurm.conf"
	scontrol reconfigure
	# shellcheck disable=SC2016
	[ "$(job sh -c 'echo "timer=$VT_TIMER"')" = "timer=CPU" ]
	good "so does the SPANK plug-in" $?
	# shellcheck disable=SC2016
	[ "$(job --tickmark-timer=clock_monotonic sh -c 'echo "timer=$VT_TIMER"')" = "timer=clock_monotonic" ] &&
		[ "$(job --tickmark-timer=off sh -c 'echo "timer=$VT_TIMER"')" = "timer=" ]
	good "its option sets another timer, or none" $?
else
	skipped "timertest does not call CPU fit on this machine: $(tail -1 "$work/tt.log")"
fi

# a job without MPI joins by a contact word, which doc/other-traces.md describes
if [ -n "$given" ] && [ -x "$given/vtrun" ]; then
	mkdir "$s/step"
	(
		cd "$s/step" || exit 1
		word=$("$given/vtrun" --contact --join-wait=5s 2>contact) &&
			timeout 60 srun -n 2 --overcommit "$given/vtrun" --join "$word" -- sleep 2
		tries=0
		until [ -s sleep.clk ] || [ $tries -gt 100 ]; do
			tries=$((tries + 1))
			sleep 0.1
		done
		grep -q '^rank 1$' sleep.clk && "$given/stftool" sleep.stf --verify
	) >"$work/step.log" 2>&1
	good "a step of two tasks under vtrun --join leaves one trace, and the correction of its clocks" $?
else
	skipped "no vtrun is built here for a step of Slurm"
fi

# a node with a critical defect: a program in place of timertest that says so
rm "$s/timertest"
printf '#!/bin/sh\necho "TIMERTEST CRITICAL - tsc.cross_core 2.0us | x=1"\nexit 2\n' >"$s/timertest"
chmod 755 "$s/timertest"
until_node DRAIN && scontrol show node "$host" | grep -q 'Reason=tickmark: CRITICAL - tsc.cross_core'
good "HealthCheckProgram drains a node with a critical check, with the reason" $?
rm "$s/timertest"
ln -s "$timertest" "$s/timertest"
until_node 'IDLE$\|IDLE ' 
good "and resumes it when it is well again" $?
exit $failed
