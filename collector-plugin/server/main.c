/* SPDX-License-Identifier: BSD-3-Clause */
/* VTserver --network: prints a contact word, continues in the background, and makes one trace of the processes that join by the word.
 * vtrun --contact starts it, after it has checked the options and made variables of them; so does VT_serverinit().
 * VTserver CONTACT...: tells the word to these clients instead, and stays. VTserver --client: such a client's process. */
#include "config.h"
#include "collector-plugin/server/server.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text/text.h"
#include "collector-plugin/attach/attach.h"
#include "collector-plugin/core/collector.h"
#include "collector-plugin/host/program/near.h"
#include "collector-plugin/host/say.h"
#include "collector-plugin/host/time.h"
#include "collector-plugin/net/tcp.h"
#include "collector-plugin/settings/run_value.h"
#include "collector-plugin/settings/settings.h"
#include "timers/quality/prove.h"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

extern char **environ;

/* stop: an MPI job that is told to end has so long: a batch system signals all processes of the job, and a program may make a
 * checkpoint and call MPI_Finalize */
enum { STEP_MS = 200, STOP_S = 60 };

static volatile sig_atomic_t stop_now;

static void note_stop(int sig)
{
	(void)sig;
	stop_now = 1;
}

/* ---- options ---- */

static double time_setting(const char *name, double otherwise)
{
	const char *text = vt_settings_other(&vt_collector.settings, name);
	double s;

	return text && tkm_parse_time(text, &s) == 0 && s >= 0 ? s : otherwise;
}

static void load_settings(struct vt_server *s)
{
	struct vt_collector *c = &vt_collector;
	const char *timer;

	c->pid = getpid();
	c->pub.rank = -1;
	vt_settings_init(&c->settings);
	vt_say_setup(&c->settings.verbose, &c->pub.rank);
	c->settings.variables = environ;
	vt_settings_load(&c->settings, "");
	s->join_wait_s = time_setting("JOIN-WAIT", 60);
	s->sync_period_s = time_setting("SYNC-PERIOD", 10);
	s->sync_period_s = s->sync_period_s > 0.01 ? s->sync_period_s : 1e9;
	timer = c->settings.timer && strcasecmp(c->settings.timer, "LIST") ? c->settings.timer
		: tmr_counter_is_kernels()                                 ? "CPU"
									   : "clock_monotonic";
	snprintf(s->timer, sizeof(s->timer), "%s", timer);
}

/* "[INTERFACE][:LOW-HIGH]" */
static int read_place(const char *text, char *interface, size_t size, int *low, int *high, struct tkm_err *err)
{
	const char *colon = strchr(text, ':');
	size_t n = colon ? (size_t)(colon - text) : strlen(text);
	char end;

	*low = *high = 0;
	if (n >= size ||
		(colon &&
			(sscanf(colon + 1, "%d-%d%c", low, high, &end) != 2 || *low < 1 || *high < *low + 1 ||
				*high > 65535))) {
		return tkm_fail(err, TKM_ERR_ARG,
			"'%s' is not an interface, nor INTERFACE:LOW-HIGH with at least two ports, as in eth0:5000-5009",
			text);
	}
	memcpy(interface, text, n);
	interface[n] = '\0';
	return 0;
}

static int open_network(struct vt_server *s, const char *place, struct tkm_err *err)
{
	char interface[64];
	int low, high;

	if (read_place(place, interface, sizeof(interface), &low, &high, err) < 0 ||
		vt_contact_here(&s->here, *interface ? interface : NULL, err) < 0) {
		return -1;
	}
	s->edge = vt_edge_listen(&s->here, *interface != '\0', low, high, err);
	s->clock_fd = s->edge ? vt_tcp_listen(low, high, &s->clock_port, err) : -1;
	return s->clock_fd < 0 ? -1 : 0;
}

/* A node takes a descriptor, and another one for clock sessions. */
static void take_all_descriptors(void)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) == 0) {
		l.rlim_cur = l.rlim_max;
		setrlimit(RLIMIT_NOFILE, &l);
	}
}

/* ---- the run ---- */

/* It was told to end, and need not wait for the ranks any more. */
static int is_stopped(const struct vt_server *s, int64_t now)
{
	static int64_t since_ns;

	since_ns = stop_now && !since_ns ? now : since_ns;
	return stop_now && (!s->is_mpi || !vt_server_count_running(s) || now - since_ns > STOP_S * INT64_C(1000000000));
}

/* How long until there is something to do that no message tells of, sessions aside. */
static int next_step_ms(const struct vt_server *s, int64_t now)
{
	int64_t left = vt_server_next_beat(s) - now;

	left = left > 0 ? left / 1000000 + 1 : 0;
	return left > STEP_MS && (!vt_server_count_running(s) || vt_server_has_steered_clock(s)) ? STEP_MS : (int)left;
}

static void run_network(struct vt_server *s)
{
	static struct pollfd fd[VT_EDGE_POLLED];
	struct vt_net_message m;
	struct vt_peer from;
	struct tkm_err e;
	int64_t now = vt_now_ns(CLOCK_MONOTONIC);
	int n, rc;

	s->began_ns = s->heard_ns = s->ended_ns = now;
	while (!is_stopped(s, now) && !vt_server_is_over(s, now)) {
		n = vt_server_clock_descriptors(s, fd, VT_EDGE_POLLED);
		vt_edge_wait(s->edge, fd, n, vt_server_next_session_ms(s, now, next_step_ms(s, now)));
		now = vt_now_ns(CLOCK_MONOTONIC);
		while ((rc = vt_edge_receive(s->edge, &from, &m, &e)) != 0) {
			if (rc > 0) {
				vt_server_take_message(s, &from, &m, now);
			}
		}
		vt_server_serve_clocks(s, now);
		vt_server_look_for_lost(s, now);
	}
}

static void tell_end(struct vt_server *s, int ok)
{
	const char *line = vt_server_said();
	struct vt_net_message m = { .kind = VT_NET_DONE, .number = { (uint64_t)ok } };
	char text[4000];
	size_t i, n = (size_t)snprintf(text, sizeof(text), "%s", line);
	int k;

	n = n < sizeof(text) ? n : sizeof(text) - 1;
	for (i = 0; i < n; i++) {
		text[i] = text[i] == '\n' ? ' ' : text[i];
	}
	m.text[0] = vt_net_text_of(text, n);
	for (k = 0; k < s->nodes; k++) {
		if (s->node[k].state != VT_SERVER_GONE) {
			vt_edge_send(s->edge, &s->node[k].peer, &m);
		}
	}
}

/* The raw files have this name, so a protocol that a rank has written in this folder is of this job. */
static void name_job(const char *mpi_job, const char *trace, const char *word)
{
	char job[64];

	vt_word_job(word, job, sizeof(job));
	snprintf(vt_collector.run, sizeof(vt_collector.run), "job=%s%s%s", *mpi_job ? mpi_job : job,
		*trace ? "\ttrace=" : "", trace);
}

static int serve(struct vt_server *s)
{
	int rc;

	take_all_descriptors();
	signal(SIGPIPE, SIG_IGN);
	signal(SIGTERM, note_stop);
	signal(SIGINT, note_stop);
	run_network(s);
	vt_server_end_attaches(s);
	s->given_up = s->is_mpi && vt_server_count_running(s) > 0;
	/* a test of clocks leaves no trace */
	if (s->given_up) {
		vt_say(1, "WARNING",
			"no trace of all nodes: VTserver was told to end, and after %d s %d of %d nodes have processes that "
			"run. Each node makes a trace of its own",
			(int)STOP_S, vt_server_count_running(s), s->nodes);
		rc = -1;
	} else {
		vt_server_find_files(s);
		rc = (s->met && s->processes == 0) || vt_server_has_trace(s) ? 0 : vt_server_make_trace(s);
	}
	if (s->processes > 0) {
		tell_end(s, rc == 0);
	}
	vt_server_free_attaches(s);
	vt_server_free_meeting(s);
	vt_server_free_clocks(s);
	vt_server_free_files(s);
	free(s->node);
	free(s->process);
	free(s->rank);
	close(s->clock_fd);
	vt_edge_close(s->edge);
	return rc == 0 ? 0 : 1;
}

/* ---- ways to start ---- */

/* What main() was asked for. */
struct server_start {
	const char *place;    /* "[INTERFACE][:LOW-HIGH]" */
	const char *contacts; /* of clients that wait; "": none */
	pid_t client;         /* for which this process waits for its server; 0: none */
	const char *trace;    /* of an MPI job */
	const char *mpi_job;  /* the launcher's name of the MPI job that has started it; "": none */
};

/* Opens the network, and writes the word, or that of the client. Returns 0 or -1. */
static int open_start(struct vt_server *s, const struct server_start *o, char *word, size_t size, struct tkm_err *err)
{
	size_t n;

	if (open_network(s, o->place, err) < 0) {
		return -1;
	}
	vt_contact_write(&s->here, word, size);
	if (o->client) {
		n = strlen(word);
		snprintf(word + n, size - n, VT_CONTACT_WAITS);
		return vt_server_open_waiting(word, err);
	}
	name_job(o->mpi_job, o->trace, word);
	return vt_server_call_clients(s, word, o->contacts, err);
}

/* Closes all descriptors but the three standard ones and this one, which gets the number 3: a pipe of the program must end with the
 * program. */
static int keep_only(int fd)
{
	int i;

	if (fd != 3 && dup2(fd, 3) < 0) {
		return fd;
	}
	if (syscall(SYS_close_range, 4u, ~0u, 0) < 0) {
		for (i = 4; i < 1024; i++) {
			close(i);
		}
	}
	return 3;
}

/* The child opens the network, since its threads do not survive a fork, and sends the word or the reason why there is none. */
static int start_in_background(struct vt_server *s, const struct server_start *o)
{
	char word[VT_CONTACT_WORD + 8] = "";
	struct tkm_err e;
	int to_parent[2];
	ssize_t n;
	pid_t pid;

	if (pipe(to_parent) < 0 || (pid = fork()) < 0) {
		fprintf(stderr, "VTserver: cannot start a process: %s\n", strerror(errno));
		return 1;
	}
	if (pid > 0) {
		close(to_parent[1]);
		n = read(to_parent[0], word, sizeof(word) - 1);
		word[n > 0 ? n : 0] = '\0';
		if (word[0] == '!' || n <= 0) {
			fprintf(stderr, "VTserver: %s\n", n > 0 ? word + 1 : "the process in the background has ended");
			return 1;
		}
		return printf("%s\n", word) < 0 || fflush(stdout) ? 1 : 0;
	}
	to_parent[1] = keep_only(to_parent[1]);
	setsid();
	if (open_start(s, o, word, sizeof(word), &e) < 0) {
		snprintf(word, sizeof(word), "!%s", e.text);
	}
	if (write(to_parent[1], word, strlen(word)) < 0 || word[0] == '!') {
		return 1;
	}
	close(to_parent[1]);
	vt_server_say_open(1);
	return o->client ? vt_server_wait_for_server(s, o->client) : serve(s);
}

/* VTserver CONTACT...: this process is rank 0, and stays until the trace is written. */
static int start_here(struct vt_server *s, const struct server_start *o)
{
	char word[VT_CONTACT_WORD];
	struct tkm_err e;

	if (open_start(s, o, word, sizeof(word), &e) < 0) {
		fprintf(stderr, "VTserver: %s\n", e.text);
		return 1;
	}
	s->is_rank_0 = 1;
	s->wanted = s->called + 1;
	vt_server_say_open(0);
	return serve(s);
}

/* ---- the command line ---- */

static int print_usage(FILE *to)
{
	fprintf(to,
		"Usage: VTserver CONTACT... [--OPTION [VALUE]]...\n"
		"Makes one trace of the clients that wait with these contacts (VT_clientinit), and stays until it is written.\n"
		"It is rank 0; the clients count from 1. TICKMARK_CLIENTS may hold the contacts, with a blank between.\n"
		"The options are those of vtrun, as in --logfile-name example.stf; vtrun --help=all shows them.\n"
		"Exit status: 0 the trace is written, 1 it is not, 2 wrong usage. See VTserver(1).\n");
	return to == stdout ? fflush(to) || ferror(to) : 2;
}

/* Puts the contacts into a variable, where other users cannot read them. vtrun checks the options, makes variables of them, and
 * executes this program again. */
static int pass_to_vtrun(int argc, char **argv)
{
	static const char *const places[] = { "/vtrun", "/../bin/vtrun", NULL };
	char path[PATH_MAX], own[1024], **v = calloc((size_t)argc + 3, sizeof(*v)), *contacts = NULL;
	struct vt_contact c;
	struct tkm_err e;
	size_t size = 0;
	FILE *f = open_memstream(&contacts, &size);
	int i, n = 0;

	for (i = 1; v && f && i < argc && strncmp(argv[i], "--", 2) != 0; i++) {
		if (vt_server_read_client(argv[i], &c, &e) < 0) {
			fprintf(stderr, "VTserver: %.*s: %s\n", (int)strcspn(argv[i], ":"), argv[i], e.text);
			return 2;
		}
		fprintf(f, "%s%s", i > 1 ? " " : "", argv[i]);
	}
	if (!v || !f || tkm_text_end(f, &contacts) < 0) {
		fprintf(stderr, "VTserver: out of memory\n");
		return 1;
	}
	if (strlen("TICKMARK_CLIENTS=") + size >= VT_ATTACH_MOST_CONTACTS) {
		fprintf(stderr, "VTserver: %d contacts take %zu bytes, and " VT_ATTACH_FEWER "\n", i - 1, size,
			(int)VT_ATTACH_MOST_CONTACTS);
		return 2;
	}
	if (i > 1) {
		setenv("TICKMARK_CLIENTS", contacts, 1);
	} else if (!getenv("TICKMARK_CLIENTS")) {
		return print_usage(stderr);
	}
	/* it is this process that vtrun takes the clients of */
	snprintf(own, sizeof(own), "%d", (int)getpid());
	setenv("TICKMARK_SERVER", own, 1);
	v[n++] = path;
	v[n++] = (char *)(uintptr_t) "--contact";
	while (i < argc) {
		v[n++] = argv[i++];
	}
	if (vt_find_installed_program(
		    vt_own_program(own, sizeof(own)), places, VT_BINDIR "/vtrun", path, sizeof(path)) == 0) {
		execv(path, v);
	}
	fprintf(stderr, "VTserver: cannot run vtrun, which checks the options: %s\n", strerror(errno));
	return 1;
}

int main(int argc, char **argv)
{
	static struct vt_server s = { .clock_fd = -1 };
	const char *how = argc > 1 ? argv[1] : "", *contacts = secure_getenv("TICKMARK_CLIENTS");
	struct server_start o = { .place = argc > 2 ? argv[2] : "",
		.contacts = contacts ? contacts : "",
		.mpi_job = argc > 4 ? argv[4] : "",
		.trace = argc > 5 ? argv[5] : "" };

	if (!strcmp(how, "--help") || !strcmp(how, "-h")) {
		return print_usage(stdout);
	}
	if (!strcmp(how, "--version")) {
		return printf("VTserver (Tickmark) %s\n", PACKAGE_VERSION) < 0;
	}
	if (!strcmp(how, "--client") && argc == 3) {
		o.client = (pid_t)atoi(argv[2]);
		o.place = "";
	} else if (strcmp(how, "--network") != 0) {
		return pass_to_vtrun(argc, argv);
	}
	load_settings(&s);
	if (!o.client && argc < 4 && *o.contacts) {
		return start_here(&s, &o);
	}
	/* VT_serverinit() passes the number of processes, MPI_Init its job, too */
	s.wanted = argc > 3 ? atoi(argv[3]) : 0;
	s.is_mpi = *o.mpi_job != '\0';
	s.shared = argc > 6 ? argv[6] : NULL;
	return start_in_background(&s, &o);
}
