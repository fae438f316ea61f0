/* SPDX-License-Identifier: BSD-3-Clause */
/* vtsampler, the sampler process: one per node and job. The first measured process or vtrun starts it
 * (attach/start.c) and passes its socket as descriptor 3. It samples all processes of the job on this node, detects
 * the end of each in every case, and completes its raw file. It makes the trace when the last process has ended;
 * then it ends itself. */
#include "config.h"
#include "collector-plugin/vtsampler/vtsampler.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "collector-plugin/host/say.h"
#include "collector-plugin/host/time.h"
#include "collector-plugin/raw/reader.h"
#include "collector-plugin/raw/writer.h"
#include "collector-plugin/run/finish.h"
#include "collector-plugin/run/names.h"
#include "collector-plugin/vtsampler/network.h"
#include "sampler/source.h"

enum { LISTENING = 3, MESSAGE_NS = 1000000000, NOBODY_NS = 2000000000, HOSTS_NS = 100000000, WATCH_NS = 1000000000 };

static struct vt_measured *processes; /* processes that run, and those whose ranks make the trace themselves */
static struct vt_measured *watched;   /* processes that sample themselves */
static const struct vt_measured *node_reader;
static int listening = LISTENING;         /* -1: another sampler has the name */
static int merged;                        /* it has made a trace that was ordered */
static int removed;                       /* some have ended, and are not in the list any more */
static int joined;                        /* processes here have joined a job by its contact word, */
static int joined_mpi;                    /* and are ranks of an MPI job (network.h) */
static int64_t wait_for_restart_until_ns; /* a process that starts again is waited for until then */

/* ---- messages ---- */

/* Receives the first bytes of a message and the descriptor that comes with them. Returns the result or -1. */
static int receive_head(int from, struct vt_attach_head *h, int *fd)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec part = { h, sizeof(*h) };
	struct msghdr m = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = sizeof(control.room)
	};
	struct cmsghdr *c;
	struct pollfd p = { from, POLLIN, 0 };

	*fd = -1;
	if (poll(&p, 1, MESSAGE_NS / 1000000) <= 0 || recvmsg(from, &m, MSG_CMSG_CLOEXEC) != (ssize_t)sizeof(*h)) {
		return -1;
	}
	c = CMSG_FIRSTHDR(&m);
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof(int))) {
		memcpy(fd, CMSG_DATA(c), sizeof(*fd));
	}
	return h->magic == VT_ATTACH_MAGIC && h->version == VT_ATTACH_VERSION && h->size <= VT_ATTACH_MOST ? 0 : -1;
}

static char *receive_body(int from, size_t size)
{
	int64_t until = vt_now_ns(CLOCK_MONOTONIC) + MESSAGE_NS;
	char *body = malloc(size + 1);
	size_t n = 0;
	ssize_t k = 1;

	while (body && n < size && k > 0) {
		struct pollfd p = { from, POLLIN, 0 };

		k = poll(&p, 1, (int)((until - vt_now_ns(CLOCK_MONOTONIC)) / 1000000) + 1) > 0
			? recv(from, body + n, size - n, 0)
			: -1;
		n += k > 0 ? (size_t)k : 0;
	}
	if (body && n < size) {
		free(body);
		return NULL;
	}
	if (body) {
		body[size] = '\0';
	}
	return body;
}

static struct vt_measured *find_process(pid_t pid)
{
	struct vt_measured *p;

	for (p = processes; p && (p->pid != pid || p->ended); p = p->next) {
	}
	return p;
}

/* The node's counters belong to one process that runs. When it has ended, another one continues a period later:
 * ranks end at about the same time, and the node is not counted again for each of them. */
static int reads_node(const struct vt_measured *p)
{
	struct vt_measured *q;

	for (q = processes; q && (q != node_reader || q->ended); q = q->next) {
	}
	if (!q) {
		for (q = processes; q && q->ended; q = q->next) {
		}
		if (q && node_reader) {
			q->s->node_due = vt_now_ns(CLOCK_MONOTONIC) + (int64_t)(q->c.settings.os_counter_delay * 1e9);
		}
		node_reader = q;
	}
	return p == node_reader;
}

static void remove_process(struct vt_measured *p)
{
	struct vt_measured **link;

	for (link = &processes; *link && *link != p; link = &(*link)->next) {
	}
	if (*link) {
		*link = p->next;
	}
	vt_measured_free(p);
}

/* Processes with one period are sampled at one wake-up. */
static void sample_with_others(struct vt_measured *p)
{
	struct vt_measured *q;

	for (q = p->next; q && (q->ended || q->s->period_ns != p->s->period_ns || q->s->due > p->s->due); q = q->next) {
	}
	if (q) {
		p->s->due = q->s->due;
	}
}

static void begin_process(int from, pid_t pid, char *texts, size_t size, int raw)
{
	struct vt_measured *before = find_process(pid), *p;
	struct tkm_err e = { TKM_OK, "" };
	char earlier[sizeof(p->c.earlier)] = "";
	uint64_t cpu = 0;

	if (before) {
		/* another program has taken its place by exec: its part is complete, and this tells the merge so */
		atomic_store(&vt_raw_head(before->c.pub.raw)->ending, VT_RAW_ENDED_EXEC);
		vt_measured_end(before, VT_RAW_ENDED_EXEC, reads_node(before));
		vt_collect_protocol(&before->c, 1);
		cpu = before->s->own_cpu;
		snprintf(earlier, sizeof(earlier), "%.90s%s%.200s", before->c.earlier, before->c.earlier[0] ? ", " : "",
			before->c.program);
		remove_process(before);
	}
	p = vt_measured_attach(pid, texts, size, raw, &e);
	if (p) {
		p->s->cpu_before = p->s->own_cpu = cpu;
		memcpy(p->c.earlier, earlier, sizeof(earlier));
		p->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
		p->next = processes;
		processes = p;
		/* the process that waits goes on; then the first samples are taken */
		vt_attach_send(from, VT_ATTACH_BEGIN, NULL, 0, -1);
		vt_network_add_process(p);
		vt_measured_describe(p);
		vt_measured_sample(p, vt_now_ns(CLOCK_MONOTONIC), reads_node(p));
		sample_with_others(p);
	} else {
		vt_attach_send(from, VT_ATTACH_REFUSED, e.text, strlen(e.text), -1);
	}
}

static void begin_watch(pid_t pid, char *texts, size_t size, int raw)
{
	struct vt_measured **link = &watched, *p;

	/* it has begun anew, or another program has taken its place */
	while (*link && (*link)->pid != pid) {
		link = &(*link)->next;
	}
	p = *link;
	if (p) {
		*link = p->next;
		vt_measured_free(p);
	}
	p = vt_measured_watch(pid, texts, size, raw);
	if (p) {
		p->next = watched;
		watched = p;
	}
}

static void answer_end(int to, struct vt_measured *p)
{
	struct {
		struct vt_attach_over over;
		char lines[sizeof(p->lines)];
	} *m = calloc(1, sizeof(*m));
	const struct vt_account *a = &p->c.account;

	if (m) {
		m->over = (struct vt_attach_over){ a->ticks, a->samples, a->cpu_ns, a->longest_ns, a->latest_ns,
			a->wall_ns, a->period_s, a->slowed, 0 };
		memcpy(m->lines, p->lines, p->lines_size);
		vt_attach_send(to, VT_ATTACH_END, m, sizeof(m->over) + p->lines_size, -1);
		free(m);
	}
}

static int is_gone(const struct vt_measured *p)
{
	struct pollfd f = { p->pidfd, POLLIN, 0 };

	return p->pidfd >= 0 ? poll(&f, 1, 0) > 0 : kill(p->pid, 0) < 0 && errno == ESRCH;
}

/* Completes the files of all processes that have ended, before any of the files is read: first of those that ended by a mistake of
 * their own, because a launcher then kills the others. but: is left out, or NULL. */
static void close_gone(const struct vt_measured *but)
{
	struct vt_measured *p;
	int round, ended = 0;

	for (p = processes; p; p = p->next) {
		p->gone = p->gone || (p != but && is_gone(p));
		ended += p->gone || p->ended;
	}
	for (round = 0; round < 2; round++) {
		for (p = processes; p; p = p->next) {
			if (p->gone && !p->ended && (round || vt_measured_has_fault(p))) {
				p->others_ended = ended > 1 || removed || joined || vt_hosts_are_several();
				vt_measured_end(p, 0, reads_node(p));
			}
		}
	}
}

static void end_process(int from, pid_t pid, const struct vt_attach_end *e)
{
	struct vt_measured *p = find_process(pid);

	if (!p) {
		return;
	}
	close_gone(p);
	/* of such a job rank 0 reports for all */
	p->c.pub.together = e->how == VT_RAW_ENDED_MPI && vt_raw_head(p->c.pub.raw)->ranks > 1;
	vt_measured_end(p, e->how, reads_node(p));
	close_gone(NULL);
	vt_say_to_measured(p);
	if (e->merge < 2) {
		vt_collect_finish(&p->c, e->merge == 1 && !vt_hosts_are_several() && !joined);
		p->finished = e->merge == 1;
	} else {
		/* what was read of the node goes with its file */
		node_reader = node_reader == p ? NULL : node_reader;
		wait_for_restart_until_ns = vt_now_ns(CLOCK_MONOTONIC) + NOBODY_NS;
	}
	answer_end(from, p);
	/* a process that ends in MPI_Finalize makes the trace with the others, or dies before that; on several hosts
	 * one sampler makes it when all have ended */
	if (e->how != VT_RAW_ENDED_MPI && !vt_hosts_are_several() && !joined) {
		removed = 1;
		remove_process(p);
	}
}

static void serve(int from)
{
	struct ucred who;
	socklen_t n = sizeof(who);
	struct vt_attach_head h;
	char *body;
	int fd;

	if (getsockopt(from, SOL_SOCKET, SO_PEERCRED, &who, &n) < 0 || who.uid != geteuid() || who.pid <= 0 ||
		receive_head(from, &h, &fd) < 0) {
		return;
	}
	body = receive_body(from, h.size);
	if (body && h.kind == VT_ATTACH_BEGIN && fd >= 0) {
		begin_process(from, who.pid, body, h.size, fd);
		return;
	}
	if (body && h.kind == VT_ATTACH_WATCH && fd >= 0) {
		begin_watch(who.pid, body, h.size, fd);
		return;
	}
	if (body && h.kind == VT_ATTACH_JOIN) {
		joined = 1;
		joined_mpi = vt_network_is_mpi(body, h.size);
		vt_network_join(fcntl(from, F_DUPFD_CLOEXEC, 0), who.pid, body, h.size);
	}
	if (body && h.kind == VT_ATTACH_MERGE) {
		vt_measured_merge(from, body, h.size);
		merged = 1;
	}
	if (body && h.kind == VT_ATTACH_END && h.size == sizeof(struct vt_attach_end)) {
		end_process(from, who.pid, (const struct vt_attach_end *)(const void *)body);
	}
	if (fd >= 0) {
		close(fd);
	}
	free(body);
}

/* ---- processes that end without a message ---- */

/* Is its raw file still there, in no trace? Those of a job that came to its end are gone, or the sampler process of another host makes the
 * trace, for which MPI_Finalize has not waited. */
static int left_over(const struct vt_measured *p)
{
	struct vt_raw_head h;

	return vt_raw_read_head(p->c.raw_path, &h) == 0 && h.pid == (uint32_t)p->pid && h.state != VT_RAW_MERGED &&
		!p->c.settings.keep_raw_events && !(p->how == VT_RAW_ENDED_MPI && vt_measured_is_held(p));
}

/* Its protocol gets the end. The user of a dead MPI job reads where the trace is. */
static void end_last(struct vt_measured *p)
{
	if (p && !p->finished) {
		vt_say_to_measured(p);
		vt_collect_finish(&p->c, 0);
		p->finished = 1;
	}
	if (p && joined_mpi && p->c.pub.rank == 0) {
		p->lines_size = (size_t)snprintf(p->lines, sizeof(p->lines), "%.3900s\n", vt_network_said());
		vt_measured_print_lines(p);
	}
}

/* Have the ranks come out of MPI_Init? */
static int was_in_mpi(const struct vt_measured *p)
{
	struct vt_raw_head h;

	return p->how == VT_RAW_ENDED_MPI || p->how == VT_RAW_ENDED_ABORT ||
		(vt_raw_read_head(p->c.raw_path, &h) == 0 && h.in_mpi);
}

/* The nodes of the job are not connected: this one makes a trace of its own. Returns 0, or -1: its name is too long, and there is none. */
static int name_alone(struct vt_measured *p)
{
	char host[256] = "", command[9100];

	vt_collect_command(&p->c, command, sizeof(command));
	/* another node may be alone in the same folder */
	gethostname(host, sizeof(host) - 1);
	if (vt_collect_rename(&p->c, host) < 0) {
		vt_say(1, "WARNING",
			"no trace of node %s: there is no room for its name in that of %s. The raw files are kept; with those "
			"of all nodes in one folder, %s --force makes one trace",
			host, p->c.trace, command);
		return -1;
	}
	p->c.partial = vt_hosts_are_several();
	vt_say(1, "WARNING", "the trace has this node only: %s",
		joined                  ? vt_network_why()
			: was_in_mpi(p) ? "its nodes are not connected"
					: "the job ended before MPI_Init");
	if (p->c.partial) {
		vt_say(1, "INFO", "with the raw files of all nodes in one folder, %s --force makes one trace", command);
	}
	return 0;
}

/* All processes here have ended. Returns 0: their files are still on the way. *last is the one that makes the trace, if it is to be
 * made here. */
static int end_joined(struct vt_measured **last)
{
	static struct vt_measured *first;
	enum vt_network_turn turn;

	/* VTserver removes the files in a folder that it shares */
	first = *last ? *last : first;
	/* an MPI job that came to its end has left nothing */
	turn = vt_network_take_turn(joined_mpi && !first ? NULL : processes);
	if (turn == VT_NETWORK_OVER) {
		end_last(first);
		*last = NULL;
	}
	if (turn != VT_NETWORK_WAIT) {
		first = NULL;
	}
	return turn != VT_NETWORK_WAIT;
}

static int is_ended_by(const struct vt_measured *p, int signal)
{
	char by[24];
	int n = snprintf(by, sizeof(by), "by signal %d ", signal);

	return !strncmp(p->c.ended_how, by, (size_t)n);
}

/* May its end be why the others ended? A launcher, or who cancels a job, terminates and then kills what is left. */
static int may_be_cause(const struct vt_measured *p)
{
	return p->how != VT_RAW_ENDED_MPI && p->c.ended_how[0] && !is_ended_by(p, SIGTERM) &&
		!(is_ended_by(p, SIGKILL) && p->others_ended);
}

/* The only one that may be the cause, or the only one of these with a fault; NULL: there is none, or there are several. */
static const struct vt_measured *only_cause(void)
{
	const struct vt_measured *p, *found[2] = { NULL, NULL };
	int n[2] = { 0, 0 }, fault;

	for (p = processes; p; p = p->next) {
		if (may_be_cause(p)) {
			fault = vt_measured_has_fault(p);
			found[fault] = p;
			n[fault]++;
		}
	}
	return n[1] ? (n[1] == 1 ? found[1] : NULL) : n[0] == 1 ? found[0] : NULL;
}

static void say_how_it_ended(const struct vt_measured *last)
{
	const struct vt_measured *cause = only_cause();

	if (cause && cause->c.pub.ranks > 1) {
		vt_say(1, "WARNING", "rank %d of %s ended %s", (int)cause->c.pub.rank, cause->c.program,
			cause->c.ended_how);
	} else {
		vt_say(1, "WARNING", "%s ended %s", last->c.program, last->c.ended_how);
	}
}

static void look_for_ends(void)
{
	struct vt_measured *p, *next, *last = NULL;
	int left = 0, merge;

	close_gone(NULL);
	for (p = processes; p; p = p->next) {
		if (p->gone) {
			vt_measured_note_later(p);
		}
		left += !p->gone;
		last = p->gone && left_over(p) && (!last || last->c.pub.rank > p->c.pub.rank) ? p : last;
	}
	for (p = processes; p; p = p->next) {
		/* several may have ended at once: the protocol is rank 0's, the trace that of any */
		if (p->gone && !p->finished && p->how != VT_RAW_ENDED_MPI && (left > 0 || p != last)) {
			vt_say_to_measured(p);
			vt_collect_finish(&p->c, 0);
			p->finished = 1;
		}
	}
	/* one that has joined may not be seen yet; its file belongs to those that are sent at the end */
	if (left == 0 && processes && joined && (vt_network_expects(0) || !end_joined(&last))) {
		return;
	}
	if (left == 0 && last) {
		vt_say_to_measured(last);
		merge = !(vt_hosts_are_several() || joined) || name_alone(last) == 0;
		say_how_it_ended(last);
		vt_collect_finish(&last->c, merge);
		vt_measured_print_lines(last);
	}
	if (left == 0 && processes) {
		vt_measured_tell_later(processes);
	}
	for (p = processes; p; p = next) {
		next = p->next;
		if (left == 0) {
			remove_process(p);
		}
	}
}

static void look_for_watched(void)
{
	struct vt_measured **link = &watched, *p;

	for (p = watched; p; p = p->next) {
		if (is_gone(p)) {
			vt_measured_note_end(p);
		}
	}
	while ((p = *link) != NULL) {
		if (p->gone) {
			*link = p->next;
			vt_measured_end_watch(p);
		} else {
			link = &p->next;
		}
	}
}

/* ---- the loop ---- */

static int64_t next_due(void)
{
	int64_t due = INT64_MAX;
	const struct vt_measured *p;

	for (p = processes; p; p = p->next) {
		if (!p->ended && vt_sampler_due(p->s, reads_node(p)) < due) {
			due = vt_sampler_due(p->s, reads_node(p));
		}
		if (vt_measured_wants_pairs(p) && p->pair_due < due) {
			due = p->pair_due;
		}
		if (vt_measured_wants_clocks(p, joined && !joined_mpi) && p->clocks_due < due) {
			due = p->clocks_due;
		}
	}
	return due;
}

/* Sleeps until a message comes, a process ends, or something is due. Returns 1 if a process connects. */
static int sleep_until(int64_t due)
{
	struct pollfd f[1024] = { { listening, POLLIN, 0 } };
	struct vt_measured *p;
	struct timespec ts;
	int64_t left = due - vt_now_ns(CLOCK_MONOTONIC);
	nfds_t n = 1;

	for (p = processes; p && n < sizeof(f) / sizeof(f[0]); p = p->next) {
		if (p->pidfd >= 0 && !p->gone) {
			f[n++] = (struct pollfd){ p->pidfd, POLLIN, 0 };
		}
	}
	for (p = watched; p && n < sizeof(f) / sizeof(f[0]); p = p->next) {
		if (p->pidfd >= 0) {
			f[n++] = (struct pollfd){ p->pidfd, POLLIN, 0 };
		}
	}
	left = left > 0 ? left : 0;
	ts = (struct timespec){ (time_t)(left / 1000000000), (long)(left % 1000000000) };
	return ppoll(f, n, &ts, NULL) > 0 && f[0].revents ? 1 : 0;
}

/* Listens under the same name again. Another sampler may have taken the name meanwhile: then this one continues with
 * the processes that it has. */
static void listen_again(void)
{
	struct sockaddr_un name;
	socklen_t n = sizeof(name);
	int again = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0),
	    rc = getsockname(listening, (struct sockaddr *)&name, &n);

	close(listening);
	listening = again;
	if (again >= 0 &&
		(rc < 0 || bind(again, (struct sockaddr *)&name, n) < 0 || listen(again, VT_ATTACH_QUEUE) < 0)) {
		close(again);
		listening = -1;
	}
}

static int serve_next(void)
{
	int from = accept4(listening, NULL, NULL, SOCK_CLOEXEC);

	if (from < 0) {
		return 0;
	}
	serve(from);
	close(from);
	return 1;
}

/* No process may connect to a sampler that is about to end: it would believe that it is sampled, and a kill would
 * leave it without a trace. So no process can connect from here on, and those that have connected before are served.
 * Returns 1 if there was one, so that this is not the end. */
static int serve_last_connections(void)
{
	int came = 0;

	if (listening >= 0 && shutdown(listening, SHUT_RD) == 0 && fcntl(listening, F_SETFL, O_NONBLOCK) == 0) {
		while (serve_next()) {
			came = 1;
		}
	}
	if (came) {
		listen_again();
	} else if (listening >= 0) {
		close(listening);
	}
	return came;
}

static void serve_processes(void)
{
	int64_t due, give_up = vt_now_ns(CLOCK_MONOTONIC) + NOBODY_NS, now;
	struct vt_measured *p;
	int had;

	for (;;) {
		had = processes != NULL;
		due = next_due();
		now = vt_now_ns(CLOCK_MONOTONIC);
		if (due == INT64_MAX && (vt_hosts_are_several() || joined)) {
			due = now + HOSTS_NS;
		}
		if (!processes && vt_network_expects(1)) {
			give_up = now + HOSTS_NS;
		} else if (watched && give_up < now + WATCH_NS) {
			give_up = now + WATCH_NS;
		}
		if (sleep_until(
			    processes ? (due == INT64_MAX ? vt_now_ns(CLOCK_MONOTONIC) + 1000000000 : due) : give_up)) {
			serve_next();
			if (!had && !processes) {
				/* vtrun tests whether there is a sampler; its process connects later */
				give_up = vt_now_ns(CLOCK_MONOTONIC) + (merged ? 0 : NOBODY_NS);
			}
		} else if (!processes && !watched && !vt_network_expects(1) && !serve_last_connections()) {
			return;
		}
		look_for_ends();
		had = had || watched;
		look_for_watched();
		now = vt_now_ns(CLOCK_MONOTONIC);
		for (p = processes; p; p = p->next) {
			if (!p->ended && (!joined || joined_mpi)) {
				vt_hosts_add_process(p);
			}
			if (!p->ended) {
				vt_measured_read_pair(p, now);
				vt_measured_read_clocks(p, now, joined && !joined_mpi);
				vt_measured_sample(p, now, reads_node(p));
			}
		}
		vt_look_for_deadlock(processes, now);
		vt_stop_look_for_file(processes, now);
		if (had && !processes && !watched) {
			give_up = vt_now_ns(CLOCK_MONOTONIC);
			give_up = give_up < wait_for_restart_until_ns ? wait_for_restart_until_ns : give_up;
		}
	}
}

/* Removes the program's limits and its binding to CPUs, which are not meant for the sampler. */
static void get_free(void)
{
	static const int limits[] = { RLIMIT_NOFILE, RLIMIT_CPU, RLIMIT_AS, RLIMIT_DATA, RLIMIT_STACK };
	unsigned char all[1024];
	struct rlimit l;
	size_t i;

	memset(all, 0xff, sizeof(all));
	syscall(SYS_sched_setaffinity, 0, sizeof(all), all);
	for (i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		if (getrlimit(limits[i], &l) == 0) {
			l.rlim_cur = l.rlim_max;
			setrlimit(limits[i], &l);
		}
	}
	/* a file that is too long must be an error, not a signal that ends us */
	signal(SIGXFSZ, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_TIMERSLACK, 1000ul, 0, 0, 0);
}

int main(int argc, char **argv)
{
	int listens = 0;
	socklen_t n = sizeof(listens);

	if (argc > 1 || getsockopt(LISTENING, SOL_SOCKET, SO_ACCEPTCONN, &listens, &n) < 0 || !listens) {
		fprintf(stderr,
			"%s: samples the counters of a program. vtrun and libVT start it; do not start it by hand. See "
			"vtrun(1)\n",
			argv[0]);
		return 2;
	}
	smp_own_process();
	get_free();
	serve_processes();
	vt_network_leave();
	return 0;
}
