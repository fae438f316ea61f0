/* SPDX-License-Identifier: BSD-3-Clause */
/* What the main thread of the sampler process asks of the network; see collector-plugin/vtsampler/network.h. */
#include "config.h"
#include "collector-plugin/vtsampler/network.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/grow.h"
#include "collector-plugin/raw/process.h"
#include "collector-plugin/raw/reader.h"
#include "collector-plugin/vtsampler/node.h"

enum { STACK_BYTES = 1 << 20 };

static const char *text_in(const char *texts, size_t size, const char *key)
{
	const char *at = texts, *end = texts + size, *value;

	while (at < end) {
		value = at + strlen(at) + 1;
		if (value >= end) {
			break;
		}
		if (!strcmp(at, key)) {
			return value;
		}
		at = value + strlen(value) + 1;
	}
	return "";
}

static int start_node_thread(void)
{
	pthread_attr_t attr;
	sigset_t all, old;
	int rc;

	vt_node.to_thread = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	vt_node.state = VT_NODE_JOINING;
	rc = pthread_create(&vt_node.thread, &attr, vt_node_run, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	vt_node.state = rc ? VT_NODE_OFF : VT_NODE_JOINING;
	return rc ? -1 : 0;
}

static void refuse_join(int to, const char *why)
{
	vt_attach_send(to, VT_ATTACH_REFUSED, why, strlen(why), -1);
	close(to);
}

int vt_network_is_mpi(const char *texts, size_t size)
{
	return *text_in(texts, size, "mpi") == '1';
}

void vt_network_join(int to, pid_t pid, const char *texts, size_t size)
{
	struct vt_node_process *p;

	pthread_mutex_lock(&vt_node.lock);
	if (vt_node.state == VT_NODE_OFF && !vt_node.word[0]) {
		snprintf(vt_node.word, sizeof(vt_node.word), "%s", text_in(texts, size, "word"));
		start_node_thread();
	}
	p = vt_node.state == VT_NODE_JOINING || vt_node.state == VT_NODE_ON
		? TKM_APPEND(vt_node.process, vt_node.processes)
		: NULL;
	if (!p) {
		refuse_join(to, vt_node.why[0] ? vt_node.why : "the job of this word has ended");
	} else {
		*p = (struct vt_node_process){ .pid = pid,
			.reply = to,
			.wanted_rank = atoi(text_in(texts, size, "rank")),
			.wanted_size = atoi(text_in(texts, size, "size")),
			.children = atoi(text_in(texts, size, "children")),
			.token = strtoull(text_in(texts, size, "token"), NULL, 16),
			.parent = strtoull(text_in(texts, size, "parent"), NULL, 16),
			.clock = -1 };
		/* such a process is in the list already */
		p->attached = p->gone = p->children > 0;
		if (vt_network_is_mpi(texts, size)) {
			/* it is sampled already, and has the clock sessions of its job */
			p->attached = 1;
			p->clock = 0;
			vt_node.shared = *text_in(texts, size, "shared") == '1';
		}
		p->wanted_rank = *text_in(texts, size, "rank") ? p->wanted_rank : -1;
		snprintf(p->program, sizeof(p->program), "%s", text_in(texts, size, "program"));
		/* files of processes that had ended before are sent already */
		vt_node.ending = 0;
	}
	pthread_mutex_unlock(&vt_node.lock);
	vt_node_wake();
}

int vt_network_expects(int with_children)
{
	int i, n = 0;

	pthread_mutex_lock(&vt_node.lock);
	for (i = 0; i < vt_node.processes; i++) {
		struct vt_node_process *p = &vt_node.process[i];

		p->gone = p->gone || (kill(p->pid, 0) < 0 && errno == ESRCH);
		n += !p->attached && !p->gone && (with_children || p->has_rank || !p->parent);
	}
	pthread_mutex_unlock(&vt_node.lock);
	return n > 0;
}

void vt_network_add_process(const struct vt_measured *m)
{
	int i;

	pthread_mutex_lock(&vt_node.lock);
	for (i = 0; i < vt_node.processes; i++) {
		struct vt_node_process *p = &vt_node.process[i];

		if (p->pid == m->pid && !p->attached) {
			p->attached = 1;
			p->rank = m->c.pub.rank;
			snprintf(p->timer, sizeof(p->timer), "%s", m->c.timer_name);
		}
	}
	pthread_mutex_unlock(&vt_node.lock);
	vt_node_wake();
}

/* ---- the end ---- */

static int clock_of_pid(pid_t pid)
{
	int i, clock = 0;

	for (i = 0; i < vt_node.processes; i++) {
		if (vt_node.process[i].pid == pid && vt_node.process[i].clock >= 0) {
			clock = vt_node.process[i].clock;
		}
	}
	return clock;
}

/* The raw files of the job that this node has recorded; in a folder that nodes share there are those of others, too. */
static void list_files(const struct vt_measured *m)
{
	char dir[1100], path[1500];
	struct vt_node_file *f;
	struct vt_raw_head h;
	struct dirent *e;
	DIR *d;
	int i;

	snprintf(dir, sizeof(dir), "%s", m->c.raw_path);
	*(strrchr(dir, '/') + 1) = '\0';
	d = opendir(dir);
	while (d && (e = readdir(d))) {
		snprintf(path, sizeof(path), "%s%.300s", dir, e->d_name);
		if (!vt_raw_is_name(e->d_name) || vt_raw_read_head(path, &h) < 0 || strcmp(h.job, m->c.job) ||
			h.state == VT_RAW_MERGED || !vt_raw_is_here(&h) || vt_raw_head_alive(path, &h)) {
			continue;
		}
		for (i = 0; i < vt_node.files && strcmp(vt_node.file[i].path, path); i++) {
		}
		f = i < vt_node.files ? NULL : TKM_APPEND(vt_node.file, vt_node.files);
		if (f) {
			*f = (struct vt_node_file){
				.path = strdup(path), .pid = h.pid, .clock = clock_of_pid((pid_t)h.pid)
			};
			vt_node.files -= !f->path;
		}
	}
	if (d) {
		closedir(d);
	}
}

static void remove_files(void)
{
	int i;

	for (i = 0; i < vt_node.files; i++) {
		unlink(vt_node.file[i].path);
	}
}

int vt_network_all_blocked(int blocked)
{
	int changed, all;

	pthread_mutex_lock(&vt_node.lock);
	changed = vt_node.blocked != blocked;
	vt_node.blocked = blocked;
	vt_node.all_blocked &= !changed;
	all = blocked && vt_node.all_blocked && vt_node.state == VT_NODE_ON;
	pthread_mutex_unlock(&vt_node.lock);
	if (changed) {
		vt_node_wake();
	}
	return all;
}

enum vt_network_turn vt_network_take_turn(const struct vt_measured *p)
{
	enum vt_network_turn turn = VT_NETWORK_WAIT;
	int begins;

	pthread_mutex_lock(&vt_node.lock);
	begins = vt_node.state != VT_NODE_DONE && vt_node.state != VT_NODE_OFF && !vt_node.ending;
	if (begins) {
		if (p && !vt_node.shared) {
			list_files(p);
		}
		vt_node.ending = 1;
	} else if (vt_node.state == VT_NODE_DONE) {
		remove_files();
		turn = VT_NETWORK_OVER;
	} else if (vt_node.state == VT_NODE_OFF) {
		turn = VT_NETWORK_ALONE;
	}
	pthread_mutex_unlock(&vt_node.lock);
	if (begins) {
		vt_node_wake();
	}
	return turn;
}

void vt_network_leave(void)
{
	int on;

	pthread_mutex_lock(&vt_node.lock);
	on = vt_node.state == VT_NODE_ON;
	vt_node.leaving = on;
	pthread_mutex_unlock(&vt_node.lock);
	if (on) {
		vt_node_wake();
		pthread_join(vt_node.thread, NULL);
	}
}

const char *vt_network_said(void)
{
	return vt_node.said;
}

const char *vt_network_why(void)
{
	return vt_node.why;
}