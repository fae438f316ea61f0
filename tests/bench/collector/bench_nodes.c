/* SPDX-License-Identifier: BSD-3-Clause */
/* bench_nodes [VTSERVER NODES RANKS SECONDS] (./VTserver 1000 4 5): what VTserver costs with so many node processes of an MPI job, each with so many
 * ranks. Each is a process here, which speaks the protocol of vtsampler over loopback, encrypted. Prints figures like all benches. */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collector-plugin/host/time.h"
#include "collector-plugin/net/edge.h"
#include "tests/bench/lib/bench.h"

enum { JOINING, IDLE, BLOCKED, ENDING };
enum { LIMIT_S = 60 };

/* What all processes share. */
static struct shared {
	_Atomic int phase, joined, blocked, ended, failed;
} * all;

static double now_s(void)
{
	return 1e-9 * (double)vt_now_ns(CLOCK_MONOTONIC);
}

/* ---- a node ---- */

static void send_numbers(struct vt_edge *e, enum vt_net_kind kind, uint64_t a, uint64_t b, uint64_t c)
{
	vt_edge_send(e, NULL, &(struct vt_net_message){ .kind = kind, .number = { a, b, c } });
}

static void send_ranks(struct vt_edge *e, int node, int ranks, int all_ranks)
{
	int i;

	for (i = 0; i < ranks; i++) {
		vt_edge_send(e, NULL,
			&(struct vt_net_message){ .kind = VT_NET_PROCESS,
				.number = { (uint64_t)(1000 + i), (uint64_t)(node * ranks + i + 1),
					(uint64_t)all_ranks },
				.text = { vt_net_text_of("app", 3) } });
	}
}

static void run_node(const struct vt_contact *server, int node, int ranks, int nodes)
{
	struct tkm_err err;
	struct vt_edge *e = vt_edge_connect(server, 0, &err);
	struct vt_net_message m;
	struct vt_peer from;
	int got = 0, phase, sent = JOINING, saw = 0;
	double told = 0;

	if (!e) {
		atomic_fetch_add(&all->failed, 1);
		return;
	}
	vt_edge_send(e, NULL,
		&(struct vt_net_message){ .kind = VT_NET_HELLO,
			.number = { VT_NET_VERSION, (uint64_t)getpid() },
			.text = { vt_net_text_of("node", 4), vt_net_text_of("boot", 4) } });
	do {
		vt_edge_wait(e, NULL, 0, 200);
		phase = atomic_load(&all->phase);
		while (vt_edge_receive(e, &from, &m, &err) > 0) {
			if (m.kind == VT_NET_PLACE) {
				send_ranks(e, node, ranks, ranks * nodes);
			}
			got += m.kind == VT_NET_RANK;
			atomic_fetch_add(&all->joined, m.kind == VT_NET_RANK && got == ranks);
			if (m.kind == VT_NET_ALIVE && m.number[2] && !saw) {
				saw = 1;
				atomic_fetch_add(&all->blocked, 1);
			}
			atomic_fetch_add(&all->failed, m.kind == VT_NET_REFUSED);
		}
		if (now_s() - told > 1 || (phase == BLOCKED && sent != BLOCKED)) {
			told = now_s();
			send_numbers(e, VT_NET_ALIVE, (uint64_t)ranks, 0, phase == BLOCKED);
		}
		sent = phase;
	} while (phase != ENDING);
	send_numbers(e, VT_NET_ENDED, 0, 0, 0);
	vt_edge_close(e);
	atomic_fetch_add(&all->ended, 1);
}

/* ---- VTserver ---- */

/* Starts it, and reads its word. It becomes a child of this process. Returns its process id. */
static pid_t start_server(const char *program, int ranks, char *word, size_t size)
{
	char command[2000], path[60], text[4096] = "";
	FILE *f;
	pid_t pid = -1;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	snprintf(command, sizeof(command), "exec %s --network lo %d bench-nodes /tmp/bench-nodes.stf /nonexistent/",
		program, ranks);
	f = popen(command, "r");
	if (f && fgets(word, (int)size, f)) {
		word[strcspn(word, "\n")] = '\0';
	}
	if (f) {
		pclose(f);
	}
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)getpid(), (int)getpid());
	f = fopen(path, "re");
	if (f && fgets(text, sizeof(text), f)) {
		pid = (pid_t)strtol(text, NULL, 10);
	}
	if (f) {
		fclose(f);
	}
	return pid;
}

static double cpu_s(pid_t pid)
{
	char path[40], text[1024] = "";
	unsigned long user = 0, kernel = 0;
	const char *at;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (f && fgets(text, sizeof(text), f) && (at = strrchr(text, ')'))) {
		sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &kernel);
	}
	if (f) {
		fclose(f);
	}
	return (double)(user + kernel) / (double)sysconf(_SC_CLK_TCK);
}

static double memory_mb(pid_t pid)
{
	char path[40], line[200];
	double kb = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		sscanf(line, "VmRSS: %lf", &kb);
	}
	if (f) {
		fclose(f);
	}
	return kb / 1024;
}

static void say_figure(const char *name, int nodes, double v, const char *unit)
{
	char text[100];

	snprintf(text, sizeof(text), "nodes.%d.%s", nodes, name);
	bench_print(text, &v, 1, unit);
}

/* Waits until the counter is n. Returns the seconds, or ends the program. */
static double wait_for(_Atomic int *counter, int n, const char *what)
{
	double from = now_s();

	while (atomic_load(counter) < n && now_s() - from < LIMIT_S && !atomic_load(&all->failed)) {
		nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
	}
	if (atomic_load(counter) < n) {
		fprintf(stderr, "bench_nodes: %d of %d nodes %s, %d were refused\n", atomic_load(counter), n, what,
			atomic_load(&all->failed));
		kill(0, SIGTERM);
		exit(1);
	}
	return now_s() - from;
}

/* The phases of a job with the figures of each. */
static void measure(pid_t server, int nodes, double seconds)
{
	double cpu, from;

	say_figure("join", nodes, wait_for(&all->joined, nodes, "have joined"), "s");
	say_figure("join.cpu", nodes, cpu_s(server), "s");
	say_figure("memory", nodes, memory_mb(server), "MB");
	cpu = cpu_s(server);
	from = now_s();
	atomic_store(&all->phase, IDLE);
	while (now_s() - from < seconds) {
		nanosleep(&(struct timespec){ 0, 10000000 }, NULL);
	}
	say_figure("cpu", nodes, 100 * (cpu_s(server) - cpu) / (now_s() - from), "%");
	atomic_store(&all->phase, BLOCKED);
	say_figure("verdict", nodes, wait_for(&all->blocked, nodes, "know of the deadlock"), "s");
	atomic_store(&all->phase, ENDING);
	from = now_s();
	wait_for(&all->ended, nodes, "have ended");
	while (kill(server, 0) == 0 && waitpid(server, NULL, WNOHANG) == 0 && now_s() - from < LIMIT_S) {
		nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
	}
	say_figure("end", nodes, now_s() - from, "s");
}

int main(int argc, char **argv)
{
	int given = argc == 5, nodes = given ? atoi(argv[2]) : 1000, ranks = given ? atoi(argv[3]) : 4, i;
	struct vt_contact server;
	char word[VT_CONTACT_WORD] = "";
	struct tkm_err err;
	pid_t pid;

	all = mmap(NULL, sizeof(*all), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if ((argc > 1 && !given) || nodes < 1 || ranks < 1 || all == MAP_FAILED) {
		fprintf(stderr, "usage: bench_nodes [VTSERVER NODES RANKS SECONDS]\n");
		return 2;
	}
	setpgid(0, 0);
	signal(SIGTERM, SIG_IGN);
	pid = start_server(given ? argv[1] : "./VTserver", nodes * ranks, word, sizeof(word));
	if (pid <= 0 || vt_contact_read(word, &server, &err) < 0) {
		fprintf(stderr, "bench_nodes: VTserver has printed no word\n");
		return 1;
	}
	for (i = 0; i < nodes; i++) {
		if (fork() == 0) {
			signal(SIGTERM, SIG_DFL);
			prctl(PR_SET_PDEATHSIG, SIGTERM);
			run_node(&server, i, ranks, nodes);
			_exit(0);
		}
	}
	measure(pid, nodes, given ? atof(argv[4]) : 5);
	while (wait(NULL) > 0) {
	}
	return 0;
}
