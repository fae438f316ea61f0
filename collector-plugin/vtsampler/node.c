/* SPDX-License-Identifier: BSD-3-Clause */
/* The thread of the sampler process that speaks with VTserver: joins, gets ranks for processes, follows clock sessions, and sends the
 * raw files when all processes here have ended. Every wait has a limit; when VTserver is lost, the main thread makes a trace of
 * this node. */
#include "config.h"
#include "collector-plugin/vtsampler/node.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "collector-plugin/attach/attach.h"
#include "collector-plugin/host/time.h"
#include "collector-plugin/net/clock.h"
#include "collector-plugin/net/edge.h"
#include "collector-plugin/net/meet.h"
#include "collector-plugin/net/tcp.h"
#include "collector-plugin/raw/process.h"

#define SECOND_NS 1000000000ll
#define SILENT_NS (15 * SECOND_NS)
/* for the last messages of a job, which may come later than the end of another connection */
#define CLOSED_NS (2 * SECOND_NS)
#define LAST_SESSION_NS (5 * SECOND_NS)
#define REPEAT_NS (5 * SECOND_NS)

enum { MOST_CLOCKS = 256, PART = 262144, WINDOW = 16, STEP_MS = 200, MOST_WAIT_S = 1 << 30 };

struct vt_node vt_node = { .lock = PTHREAD_MUTEX_INITIALIZER, .to_thread = -1 };

void vt_node_wake(void)
{
	uint64_t one = 1;

	/* it fails only if the descriptor is readable already */
	if (vt_node.to_thread >= 0 && write(vt_node.to_thread, &one, sizeof(one)) < 0) {
		return;
	}
}

/* Of the thread alone. */
static struct {
	struct vt_contact server;
	int host; /* of its hosts, the one that answers */
	struct vt_edge *edge;
	int placed; /* VTserver has taken this node in */
	uint64_t number, clock_port, nonce[2];
	int64_t join_wait_ns; /* VTserver refuses a wait that is longer */
	struct vt_net_clock clock[MOST_CLOCKS];
	int clocks;
	int64_t heard_ns, told_ns, asked_ns;
	int64_t closed_ns;           /* VTserver has closed a connection that it keeps as long as it lives */
	int told_blocked, was_asked; /* VTserver has said that it is alive, and gets an answer */
	/* the end */
	int64_t ending_ns, announced_ns, part_ns;
	int lasts_asked;
	int file, fd;      /* the file that is being sent */
	uint64_t size, at; /* of it; the next part to be read */
	uint64_t waiting[WINDOW];
	int n_waiting; /* parts sent and not acknowledged, the oldest first */
} my = { .fd = -1 };

static void send_message(const struct vt_net_message *m)
{
	vt_edge_send(my.edge, NULL, m);
}

static void send_kind(enum vt_net_kind kind, uint64_t a, uint64_t b)
{
	send_message(&(struct vt_net_message){ .kind = kind, .number = { a, b } });
}

static void reply(struct vt_node_process *p, enum vt_attach_kind kind, const void *body, size_t n)
{
	if (p->reply >= 0) {
		vt_attach_send(p->reply, kind, body, n, -1);
		close(p->reply);
		p->reply = -1;
	}
}

/* All that still wait for an answer. The lock is held. */
static void refuse_all(const char *why)
{
	int i;

	for (i = 0; i < vt_node.processes; i++) {
		if (vt_node.process[i].reply >= 0) {
			reply(&vt_node.process[i], VT_ATTACH_REFUSED, why, strlen(why));
			vt_node.process[i].gone = 1;
		}
	}
}

/* The network is lost. The lock is held. */
static void leave(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void leave(const char *fmt, ...)
{
	va_list ap;

	if (vt_node.state == VT_NODE_DONE || vt_node.state == VT_NODE_OFF) {
		return;
	}
	va_start(ap, fmt);
	vsnprintf(vt_node.why, sizeof(vt_node.why), fmt, ap);
	va_end(ap);
	vt_node.state = VT_NODE_OFF;
	refuse_all(vt_node.why);
}

/* ---- joining ---- */

static void join_network(void)
{
	struct tkm_err e = { TKM_OK, "" };
	char boot[64] = "";

	vt_raw_boot(boot, sizeof(boot));
	my.edge = vt_meet_server(vt_node.word, boot, &my.server, &my.host, &e);
	if (!my.edge) {
		pthread_mutex_lock(&vt_node.lock);
		leave("%s", e.text);
		pthread_mutex_unlock(&vt_node.lock);
	}
	my.heard_ns = vt_now_ns(CLOCK_MONOTONIC);
}

static struct vt_node_process *find_joined(uint64_t pid)
{
	int i;

	for (i = vt_node.processes - 1; i >= 0 && (uint64_t)vt_node.process[i].pid != pid; i--) {
	}
	return i >= 0 ? &vt_node.process[i] : NULL;
}

static void ask_for_ranks(void)
{
	int i;

	for (i = 0; my.placed && i < vt_node.processes; i++) {
		struct vt_node_process *p = &vt_node.process[i];

		if (p->reply >= 0 && !p->asked) {
			p->asked = 1;
			p->asked_ns = vt_now_ns(CLOCK_MONOTONIC);
			if (p->children) {
				send_kind(VT_NET_ATTACH, (uint64_t)p->pid, (uint64_t)p->children);
				continue;
			}
			send_message(&(struct vt_net_message){ .kind = VT_NET_PROCESS,
				.number = { (uint64_t)p->pid, (uint64_t)(p->wanted_rank + 1), (uint64_t)p->wanted_size,
					p->token, p->parent },
				.text = { vt_net_text_of(p->program, strlen(p->program)) } });
		}
	}
}

static void answer_rank(const struct vt_net_message *m)
{
	struct vt_node_process *p = find_joined(m->number[0]);

	if (p) {
		struct vt_attach_place place = { (int32_t)m->number[1], (int32_t)m->number[2], (int32_t)m->number[3],
			(int32_t)m->number[4] - 1 };

		reply(p, VT_ATTACH_JOINED, &place, sizeof(place));
		p->has_rank = 1;
	}
}

static void take_refusal(const struct vt_net_message *m)
{
	struct vt_node_process *p = m->number[0] ? find_joined(m->number[0]) : NULL;

	if (p) {
		reply(p, VT_ATTACH_REFUSED, m->text[0].at, m->text[0].n);
		p->gone = 1;
	} else {
		leave("%.*s", (int)m->text[0].n, m->text[0].at);
	}
}

/* Waits that the process has given up, and those that VTserver has not ended, although their limit is over. */
static void look_at_waits(int64_t now)
{
	static const char why[] = "VTserver has not answered within JOIN-WAIT";
	int i;

	for (i = 0; i < vt_node.processes; i++) {
		struct vt_node_process *p = &vt_node.process[i];

		if (p->reply >= 0 && p->asked && vt_attach_closed(p->reply)) {
			close(p->reply);
			p->reply = -1;
			/* it may come again */
			p->gone = 1;
			send_kind(VT_NET_WITHDRAW, (uint64_t)p->pid, 0);
		}
		if (p->reply >= 0 && p->asked && now - p->asked_ns > my.join_wait_ns + SILENT_NS) {
			reply(p, VT_ATTACH_REFUSED, why, sizeof(why) - 1);
			p->gone = 1;
		}
	}
}

/* ---- clocks ---- */

/* Connects for the sessions of a clock. If that fails, it is tried again later. */
static void connect_clock(int i)
{
	struct vt_net_clock *c = &my.clock[i];
	struct vt_clock_hello h = { { my.nonce[0], my.nonce[1] }, my.number, (uint64_t)i };
	int64_t now = vt_now_ns(CLOCK_MONOTONIC);
	struct tkm_err e;
	int fd, host = my.host;

	if (c->due_ns > now) {
		return;
	}
	c->due_ns = now + SECOND_NS;
	fd = vt_tcp_connect(&my.server, (int)my.clock_port, 2, &host, &e);
	if (fd >= 0 && vt_tcp_put(fd, &h, sizeof(h), 1) == 0) {
		vt_net_clock_connect(c, fd, 1, &e);
	} else if (fd >= 0) {
		close(fd);
	}
}

/* The clock of a timer; a name with {rank} is another one on each rank. Returns its number, or -1. */
static int find_clock(const struct vt_node_process *p)
{
	struct tkm_err e;
	int i;

	for (i = 0; i < my.clocks && (strcmp(my.clock[i].timer_name, p->timer) || strstr(p->timer, "{rank")); i++) {
	}
	if (i < my.clocks) {
		return i;
	}
	return my.clocks < MOST_CLOCKS && vt_net_clock_open(&my.clock[my.clocks], p->timer, p->rank, &e) == 0
		? my.clocks++
		: -1;
}

static void open_clocks(void)
{
	int i;

	for (i = 0; my.placed && i < vt_node.processes; i++) {
		struct vt_node_process *p = &vt_node.process[i];

		if (p->attached && p->clock < 0 && !p->gone) {
			p->clock = find_clock(p);
			p->gone = p->clock < 0;
		}
	}
}

static void send_lines(int i)
{
	size_t n = 0;
	char *text = vt_net_clock_lines(&my.clock[i], &n);

	if (text && n > 0) {
		send_message(&(struct vt_net_message){
			.kind = VT_NET_CLOCK, .number = { (uint64_t)i, 0 }, .text = { vt_net_text_of(text, n) } });
	}
	free(text);
}

static void follow_clock(int i)
{
	struct vt_net_clock *c = &my.clock[i];
	struct tkm_err e;

	if (vt_net_clock_follow(c, &e) != 0 && (cal_link_tcp_ended(c->link) || !c->begun)) {
		my.closed_ns = c->begun ? vt_now_ns(CLOCK_MONOTONIC) : my.closed_ns;
		vt_net_clock_cut(c);
		return;
	}
	send_lines(i);
}

/* ---- the end ---- */

static int are_clocks_over(int64_t now)
{
	int i, over = 1;

	for (i = 0; i < my.clocks && !my.lasts_asked; i++) {
		send_kind(VT_NET_LAST, (uint64_t)i, 0);
	}
	my.lasts_asked = 1;
	for (i = 0; i < my.clocks; i++) {
		over &= my.clock[i].over || my.clock[i].cut || now - my.ending_ns > LAST_SESSION_NS;
	}
	return over;
}

static int is_empty(const char *p, size_t n)
{
	return n > 0 && p[0] == 0 && !memcmp(p, p + 1, n - 1);
}

/* Sends the next part of the file that is not empty, or at its end an empty one. Returns -1 if the file cannot be read. */
static int send_part(const struct vt_node_file *f)
{
	static char part[PART];
	const char *name = strrchr(f->path, '/') + 1;
	ssize_t n;

	for (;;) {
		n = my.at < my.size ? pread(my.fd, part, sizeof(part), (off_t)my.at) : 0;
		if (n < 0 || (n == 0 && my.at < my.size)) {
			return -1;
		}
		if (my.at == my.size || !is_empty(part, (size_t)n)) {
			break;
		}
		my.at += (uint64_t)n;
	}
	send_message(&(struct vt_net_message){ .kind = VT_NET_FILE,
		.number = { f->pid, (uint64_t)my.file, (uint64_t)f->clock, my.at, my.size },
		.text = { vt_net_text_of(name, strlen(name)), vt_net_text_of(part, (size_t)n) } });
	my.waiting[my.n_waiting++] = my.at;
	my.part_ns = vt_now_ns(CLOCK_MONOTONIC);
	my.at += (uint64_t)n + (n == 0);
	return 0;
}

static void take_acknowledgement(const struct vt_net_message *m)
{
	if (my.n_waiting && m->number[0] == (uint64_t)my.file && m->number[1] == my.waiting[0]) {
		memmove(my.waiting, my.waiting + 1, (size_t)--my.n_waiting * sizeof(my.waiting[0]));
	}
}

/* Sends file by file. Returns 1 when all are there. The lock is held. */
static int send_files(int64_t now)
{
	struct vt_node_file *f;
	struct stat st;

	while (my.file < vt_node.files) {
		f = &vt_node.file[my.file];
		if (my.fd < 0) {
			my.fd = open(f->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
			if (my.fd < 0 || fstat(my.fd, &st) < 0) {
				leave("cannot read %s: %s", f->path, strerror(errno));
				return 0;
			}
			my.size = (uint64_t)st.st_size;
			my.at = 0;
		}
		if (my.n_waiting && now - my.part_ns > REPEAT_NS) {
			my.at = my.waiting[0];
			my.n_waiting = 0;
		}
		while (my.n_waiting < WINDOW && my.at <= my.size) {
			if (send_part(f) < 0) {
				leave("cannot read %s", f->path);
				return 0;
			}
		}
		if (my.n_waiting) {
			return 0;
		}
		close(my.fd);
		my.fd = -1;
		my.file++;
	}
	return 1;
}

/* The last sessions, then the files, then the word that they are complete. */
static void end_node(int64_t now)
{
	int i;

	if (!vt_node.ending) {
		/* a process has joined after all others had ended: their clocks go on */
		for (i = 0; i < my.clocks && my.lasts_asked; i++) {
			my.clock[i].over = 0;
		}
		my.ending_ns = my.announced_ns = 0;
		my.lasts_asked = 0;
		return;
	}
	my.ending_ns = my.ending_ns ? my.ending_ns : now;
	if (!are_clocks_over(now)) {
		return;
	}
	for (i = 0; i < my.clocks; i++) {
		send_lines(i);
	}
	if (send_files(now) && now - my.announced_ns > REPEAT_NS) {
		my.announced_ns = now;
		send_kind(VT_NET_ENDED, (uint64_t)vt_node.files, 0);
	}
}

/* All processes here have ended, none of which has recorded anything. */
static void leave_job(void)
{
	static const char why[] = "its processes ended before they had begun";
	int i, n = 0;

	for (i = 0; i < vt_node.processes; i++) {
		n += vt_node.process[i].has_rank;
	}
	if (n > 0) {
		send_message(&(struct vt_net_message){
			.kind = VT_NET_LEAVE, .text = { vt_net_text_of(why, sizeof(why) - 1) } });
	} else {
		send_kind(VT_NET_ENDED, 0, 0);
	}
	vt_node.state = VT_NODE_DONE;
}

/* ---- the loop ---- */

static void take_message(const struct vt_net_message *m)
{
	switch (m->kind) {
	case VT_NET_PLACE:
		my.placed = 1;
		my.number = m->number[0];
		my.clock_port = m->number[1];
		my.nonce[0] = m->number[2];
		my.nonce[1] = m->number[3];
		my.join_wait_ns = (int64_t)(m->number[4] < MOST_WAIT_S ? m->number[4] : MOST_WAIT_S) * SECOND_NS;
		vt_node.state = VT_NODE_ON;
		break;
	case VT_NET_RANK:
		answer_rank(m);
		break;
	case VT_NET_REFUSED:
		take_refusal(m);
		break;
	case VT_NET_GOT:
		take_acknowledgement(m);
		break;
	case VT_NET_ALIVE:
		vt_node.all_blocked = m->number[2] == 1;
		my.was_asked = 1;
		break;
	case VT_NET_DONE:
		if (m->number[0]) {
			vt_node.state = VT_NODE_DONE;
			vt_net_copy(&m->text[0], vt_node.said, sizeof(vt_node.said));
			refuse_all("the job has ended");
		} else {
			leave("VTserver made no trace: %.*s", (int)m->text[0].n, m->text[0].at);
		}
		break;
	default:
		break;
	}
}

static void receive_messages(void)
{
	struct vt_net_message m;
	struct vt_peer from;
	struct tkm_err e;
	int rc;

	while ((rc = vt_edge_receive(my.edge, &from, &m, &e)) != 0) {
		if (rc > 0) {
			my.heard_ns = vt_now_ns(CLOCK_MONOTONIC);
			take_message(&m);
		}
	}
}

/* How long until there is something to do that no message or wake-up tells of. */
static int next_step_ms(void)
{
	int64_t left = my.told_ns + 2 * VT_NET_BEAT_NS - vt_now_ns(CLOCK_MONOTONIC);
	int i, waits = !my.placed || vt_node.state != VT_NODE_ON || vt_node.ending;

	for (i = 0; i < vt_node.processes; i++) {
		waits |= vt_node.process[i].reply >= 0;
	}
	for (i = 0; i < my.clocks; i++) {
		waits |= !my.clock[i].begun || my.clock[i].cut || my.clock[i].job.reference != NULL;
	}
	left = left > 0 ? left / 1000000 + 1 : 0;
	return waits && left > STEP_MS ? STEP_MS : (int)left;
}

/* Waits for messages, for a session, or for the main thread. */
static void wait_for_work(void)
{
	struct pollfd fd[MOST_CLOCKS + 1] = { { vt_node.to_thread, POLLIN, 0 } };
	int of[MOST_CLOCKS + 1], i, n = 1;
	uint64_t count;
	int step;

	pthread_mutex_lock(&vt_node.lock);
	step = next_step_ms();
	pthread_mutex_unlock(&vt_node.lock);
	for (i = 0; i < my.clocks; i++) {
		if (vt_net_clock_is_connected(&my.clock[i])) {
			of[n] = i;
			fd[n++] = (struct pollfd){ cal_link_tcp_fd(my.clock[i].link), POLLIN, 0 };
		} else if (my.placed && !my.clock[i].link) {
			connect_clock(i);
		}
	}
	vt_edge_wait(my.edge, fd, n, step);
	if (fd[0].revents && read(vt_node.to_thread, &count, sizeof(count)) < 0) {
		fd[0].revents = 0;
	}
	for (i = 1; i < n; i++) {
		if (fd[i].revents) {
			follow_clock(of[i]);
		}
	}
}

static void keep_alive(int64_t now)
{
	int i, running = 0;

	if (my.was_asked || now - my.told_ns > 2 * VT_NET_BEAT_NS || my.told_blocked != vt_node.blocked) {
		my.told_ns = now;
		my.was_asked = 0;
		my.told_blocked = vt_node.blocked;
		for (i = 0; i < vt_node.processes; i++) {
			running += !vt_node.process[i].gone;
		}
		send_message(&(struct vt_net_message){ .kind = VT_NET_ALIVE,
			.number = { (uint64_t)running, (uint64_t)(vt_node.processes - running),
				(uint64_t)vt_node.blocked } });
	}
	for (i = 0; i < my.clocks; i++) {
		if (my.clock[i].begun) {
			cal_job_pair(&my.clock[i].job);
		}
	}
	if (my.closed_ns > my.heard_ns && now - my.closed_ns > CLOSED_NS) {
		leave("VTserver on %s has ended", my.server.host[my.host]);
	}
	if (now - my.heard_ns > SILENT_NS) {
		leave("nothing was heard of %s for %lld s", my.server.host[my.host], SILENT_NS / SECOND_NS);
	}
}

void *vt_node_run(void *unused)
{
	int on = 1, i;

	(void)unused;
	join_network();
	while (on && my.edge) {
		wait_for_work();
		pthread_mutex_lock(&vt_node.lock);
		receive_messages();
		/* before the same process asks again */
		look_at_waits(vt_now_ns(CLOCK_MONOTONIC));
		ask_for_ranks();
		open_clocks();
		end_node(vt_now_ns(CLOCK_MONOTONIC));
		keep_alive(vt_now_ns(CLOCK_MONOTONIC));
		if (vt_node.leaving && vt_node.state == VT_NODE_ON) {
			leave_job();
		}
		on = vt_node.state == VT_NODE_ON || vt_node.state == VT_NODE_JOINING;
		pthread_mutex_unlock(&vt_node.lock);
	}
	for (i = 0; i < my.clocks; i++) {
		vt_net_clock_close(&my.clock[i]);
	}
	vt_edge_close(my.edge);
	return NULL;
}
