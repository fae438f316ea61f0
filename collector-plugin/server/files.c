/* SPDX-License-Identifier: BSD-3-Clause */
/* Receives the raw files of the nodes into the folder of the trace. A part may come twice, if an acknowledgement was lost. */
#include "config.h"
#include "collector-plugin/server/server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/known.h"
#include "collector-plugin/core/collector.h"
#include "collector-plugin/merge/merge.h"
#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/process.h"
#include "collector-plugin/raw/reader.h"
#include "collector-plugin/settings/run_value.h"

#define MOST_BYTES (UINT64_C(1) << 42)

/* The name on the node, with the node's number in it. A peer must not choose a folder. */
static int name_file(
	struct vt_server *s, const struct vt_server_file *f, const struct vt_net_text *given, char *path, size_t size)
{
	char name[256];

	vt_net_copy(given, name, sizeof(name));
	if (strchr(name, '/') || !vt_raw_is_name(name) || !s->folder[0]) {
		return -1;
	}
	return snprintf(path, size, "%s" VT_RAW_PREFIX "%d.%s", s->folder, f->node, name + strlen(VT_RAW_PREFIX)) <
			(int)size
		? 0
		: -1;
}

static int create_file(
	struct vt_server *s, struct vt_server_file *f, const struct vt_net_text *name, struct tkm_err *err)
{
	char path[1500];

	if (!s->folder[0] && vt_server_name_trace(s, err) < 0) {
		return -1;
	}
	if (name_file(s, f, name, path, sizeof(path)) < 0) {
		return tkm_fail(err, TKM_ERR_DATA, "a file with a name that is none of a raw file");
	}
	f->path = strdup(path);
	f->fd = f->path ? open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666) : -1;
	if (f->fd < 0 || ftruncate(f->fd, (off_t)f->size) < 0) {
		return tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot create %s", path);
	}
	return 0;
}

static struct vt_server_file *find_file(
	struct vt_server *s, int node, const struct vt_net_message *m, struct tkm_err *err)
{
	struct vt_server_file *f;
	int i;

	for (i = 0; i < s->files && (s->file[i].node != node || s->file[i].number != m->number[1]); i++) {
	}
	if (i < s->files) {
		return &s->file[i];
	}
	if (m->number[4] > MOST_BYTES) {
		tkm_fail(err, TKM_ERR_DATA, "a file of %llu bytes", (unsigned long long)m->number[4]);
		return NULL;
	}
	f = TKM_APPEND(s->file, s->files);
	if (!f) {
		tkm_fail(err, TKM_ERR_NOMEM, "no memory for one more file");
		return NULL;
	}
	*f = (struct vt_server_file){ .node = node,
		.fd = -1,
		.number = m->number[1],
		.clock = m->number[2],
		.size = m->number[4],
		.pid = m->number[0] };
	return create_file(s, f, &m->text[0], err) < 0 ? NULL : f;
}

static int store_part(struct vt_server_file *f, uint64_t offset, const struct vt_net_text *bytes, struct tkm_err *err)
{
	size_t done = 0;
	ssize_t n = 1;

	if (offset > f->size || bytes->n > f->size - offset) {
		return tkm_fail(err, TKM_ERR_DATA, "a part after the end of its file");
	}
	while (done < bytes->n && n > 0) {
		n = pwrite(f->fd, bytes->at + done, bytes->n - done, (off_t)(offset + done));
		done += n > 0 ? (size_t)n : 0;
	}
	return done == bytes->n ? 0 : tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot write %s", f->path);
}

void vt_server_take_part(struct vt_server *s, int node, const struct vt_net_message *m)
{
	struct tkm_err err = { TKM_OK, "" };
	struct vt_server_file *f = find_file(s, node, m, &err);
	uint64_t offset = m->number[3];

	/* a file that is complete was acknowledged; that is repeated */
	if (f && f->fd >= 0 && store_part(f, offset, &m->text[1], &err) == 0 && offset == f->size) {
		close(f->fd);
		f->fd = -1;
	}
	if (err.text[0]) {
		vt_edge_send(s->edge, &s->node[node].peer,
			&(struct vt_net_message){
				.kind = VT_NET_REFUSED, .text = { vt_net_text_of(err.text, strlen(err.text)) } });
		vt_server_lose_node(s, node, "%s", err.text);
		return;
	}
	vt_edge_send(s->edge, &s->node[node].peer,
		&(struct vt_net_message){ .kind = VT_NET_GOT, .number = { m->number[1], offset } });
}

int vt_server_files_complete(const struct vt_server *s, int node)
{
	uint64_t complete = 0;
	int i;

	for (i = 0; i < s->files; i++) {
		complete += s->file[i].node == node && s->file[i].fd < 0;
	}
	return complete >= s->node[node].files;
}

/* The node that has recorded it; -1: none of this job. */
static int node_of(const struct vt_server *s, const struct vt_raw_head *h)
{
	int i;

	for (i = 0; i < s->nodes && !tkm_known_equal(h->host, s->node[i].host); i++) {
	}
	return i < s->nodes ? i : -1;
}

/* Is nothing more written into the file, and does nobody else make a trace of it? The sampler process of a node that was given up may
 * live and make one of its own, and its programs may record; here it is seen that a process is dead, on another host it is not. */
static int is_ours(const struct vt_server *s, int node, const struct vt_raw_head *h)
{
	if (s->node[node].state != VT_SERVER_GONE) {
		return s->node[node].state == VT_SERVER_ENDED;
	}
	return vt_raw_life(h, &h->id) == VT_RAW_DEAD;
}

void vt_server_find_files(struct vt_server *s)
{
	const struct vt_collector *c = &vt_collector;
	struct vt_server_file *f;
	char job[64], **path;
	struct vt_raw_head h;
	struct tkm_err err;
	size_t n, i;
	int node;

	if (!s->shared || c->settings.keep_raw_events || !vt_run_value(c->run, "job", job, sizeof(job)) ||
		vt_merge_find_in(s->shared, job, &path, &n, &err) < 0) {
		return;
	}
	for (i = 0; i < n; i++) {
		node = vt_raw_read_head(path[i], &h) == 0 ? node_of(s, &h) : -1;
		f = NULL;
		if (node >= 0 && is_ours(s, node, &h)) {
			f = TKM_APPEND(s->file, s->files);
		} else if (node >= 0) {
			s->node[node].left_out++;
		}
		if (f) {
			*f = (struct vt_server_file){ .node = node, .fd = -1, .path = path[i] };
			path[i] = NULL;
		}
	}
	tkm_free_texts(path, n);
}

void vt_server_free_files(struct vt_server *s)
{
	int i;

	for (i = 0; i < s->files; i++) {
		if (s->file[i].fd >= 0) {
			close(s->file[i].fd);
		}
		/* the nodes have theirs */
		if (s->file[i].fd >= 0 || (s->given_up && !s->shared)) {
			unlink(s->file[i].path);
		}
		free(s->file[i].path);
	}
	free(s->file);
}
