/* SPDX-License-Identifier: BSD-3-Clause */
/* Orders a trace from the sampler process; see collector-plugin/run/outside.h. */
#include "config.h"
#include "collector-plugin/run/outside.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cpus.h"
#include "collector-plugin/attach/attach.h"
#include "collector-plugin/core/collector.h"
#include "collector-plugin/host/memory.h"
#include "collector-plugin/host/say.h"
#include "collector-plugin/host/time.h"
#include "collector-plugin/run/finish.h"

/* MPI_Finalize waits so long, and a second more for each 16 MB of raw files. */
enum { FINALIZE_WAIT_S = 60, BYTES_A_SECOND = 24, LINES = 70000 };

static char *put(char *to, const void *from, size_t n)
{
	memcpy(to, from, n);
	return to + n;
}

/* Where the trace is to be. Returns 0 or -1. */
static int find_folder(const char *trace, struct vt_merge_order *order)
{
	char folder[1100];
	struct stat st;

	snprintf(folder, sizeof(folder), "%.*s", (int)(strrchr(trace, '/') + 1 - trace), trace);
	if (stat(folder, &st) < 0) {
		return -1;
	}
	order->device = (uint64_t)st.st_dev;
	order->inode = (uint64_t)st.st_ino;
	return 0;
}

/* Returns a message that the caller unmaps, or NULL. */
static char *pack_order(const struct vt_merge_input *in, size_t n, const struct vt_merge_options *o, size_t *size)
{
	struct vt_merge_order order = { .o = *o,
		.files = (uint32_t)n,
		.cpu_bytes = o->cpus ? (uint32_t)o->cpus->bytes : 0,
		.has_nmcmd = o->nmcmd != NULL,
		.has_summary = o->summary != NULL };
	const char *nmcmd = o->nmcmd ? o->nmcmd : "";
	char *message, *to;
	size_t i;

	*size = sizeof(order) + order.cpu_bytes + strlen(o->trace) + 1 + strlen(nmcmd) + 1;
	for (i = 0; i < n; i++) {
		*size += strlen(in[i].path) + 1;
	}
	message = *size <= VT_ATTACH_MOST && find_folder(o->trace, &order) == 0 ? vt_pages(*size) : NULL;
	if (message) {
		to = put(message, &order, sizeof(order));
		to = order.cpu_bytes ? put(to, o->cpus->set, order.cpu_bytes) : to;
		to = put(to, o->trace, strlen(o->trace) + 1);
		to = put(to, nmcmd, strlen(nmcmd) + 1);
		for (i = 0; i < n; i++) {
			to = put(to, in[i].path, strlen(in[i].path) + 1);
		}
	}
	return message;
}

static int64_t limit_s(const struct vt_merge_input *in, size_t n)
{
	uint64_t bytes = 0;
	struct stat st;
	size_t i;

	for (i = 0; i < n; i++) {
		bytes += stat(in[i].path, &st) == 0 ? (uint64_t)st.st_size : 0;
	}
	return FINALIZE_WAIT_S + (int64_t)(bytes >> BYTES_A_SECOND);
}

/* Waits for the answer. Returns the result of the merge, or -1 with err. */
static int take_answer(int from, int64_t seconds, struct vt_merge_result *out, struct tkm_err *err)
{
	struct {
		struct vt_merge_answer answer;
		char lines[LINES];
	} *m = vt_pages(sizeof(*m));
	int64_t until = vt_now_ns(CLOCK_MONOTONIC) + seconds * 1000000000;
	struct vt_attach_head h;
	ssize_t n = m ? vt_attach_receive(from, &h, m, sizeof(*m) - 1, until) : -1;
	int rc = -1;

	if (n >= (ssize_t)sizeof(m->answer) && h.kind == VT_ATTACH_MERGED) {
		vt_say_lines(m->lines);
		*out = m->answer.result;
		*err = m->answer.err;
		rc = m->answer.rc;
	} else if (n >= 0) {
		tkm_fail(err, TKM_ERR_UNAVAIL, "%.*s", (int)n, (const char *)m);
	} else if (m && vt_now_ns(CLOCK_MONOTONIC) >= until) {
		tkm_fail(err, TKM_ERR_TIMEOUT, "it is not complete after %lld s", (long long)seconds);
	} else {
		tkm_fail(err, TKM_ERR_UNAVAIL, "the sampler process has ended");
	}
	if (m) {
		munmap(m, sizeof(*m));
	}
	return rc;
}

static int merge_outside(const struct vt_merge_input *in, size_t n, const struct vt_merge_options *o,
	struct vt_merge_result *out, struct tkm_err *err)
{
	size_t size;
	char *message = pack_order(in, n, o, &size);
	int fd = message ? vt_attach_connect(vt_collector.job) : -1, rc = -1;

	if (fd < 0 || vt_attach_send(fd, VT_ATTACH_MERGE, message, size, -1) < 0) {
		tkm_fail(err, TKM_ERR_UNAVAIL, "the sampler process cannot be reached");
	} else {
		rc = take_answer(fd, limit_s(in, n), out, err);
	}
	if (fd >= 0) {
		close(fd);
	}
	if (message) {
		munmap(message, size);
	}
	return rc;
}

int vt_collect_merge_outside(struct vt_merge_input *in, size_t n, struct tkm_err *err)
{
	struct vt_collector *c = &vt_collector;
	int rc;

	c->merge = merge_outside;
	rc = vt_collect_merge(in, n, 0, NULL, err);
	c->merge = NULL;
	return rc;
}
