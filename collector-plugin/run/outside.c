/* SPDX-License-Identifier: BSD-3-Clause */
/* Orders a trace from a sampler process; see collector-plugin/run/outside.h. */
#include "config.h"
#include "collector-plugin/run/outside.h"

#include <errno.h>
#include <linux/sockios.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cpus.h"
#include "base/text/text.h"
#include "collector-plugin/attach/attach.h"
#include "collector-plugin/core/collector.h"
#include "collector-plugin/host/memory.h"
#include "collector-plugin/host/say.h"
#include "collector-plugin/host/time.h"
#include "collector-plugin/run/vtsampler.h"
#include "collector-plugin/settings/settings.h"

/* MPI_Finalize and exit wait for FINALIZE-WAIT, and a second more for each 16 MB of raw files. */
enum { WAIT_S = 60, BYTES_A_SECOND = 24, LINES = 70000 };

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
		.has_summary = o->summary != NULL,
		.verbose = (int32_t)vt_collector.settings.verbose,
		.rank = vt_collector.pub.rank };
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
	const char *text = vt_settings_other(&vt_collector.settings, "FINALIZE-WAIT");
	double wait_s = WAIT_S;
	uint64_t bytes = 0;
	struct stat st;
	size_t i;

	for (i = 0; i < n; i++) {
		bytes += stat(in[i].path, &st) == 0 ? (uint64_t)st.st_size : 0;
	}
	if (text) {
		tkm_parse_time(text, &wait_s);
	}
	return (int64_t)wait_s + (int64_t)(bytes >> BYTES_A_SECOND);
}

struct answer {
	struct vt_merge_answer answer;
	char lines[LINES];
};

/* Takes the order back. Returns 1 if it was not read: whoever reads it then sees the end of the connection, and does not begin. */
static int withdraw(int fd)
{
	int unread = 0;

	return shutdown(fd, SHUT_WR) == 0 && ioctl(fd, SIOCOUTQ, &unread) == 0 && unread > 0;
}

/* Waits for the answer. Returns the result of the merge, or -1 with err. Only an end of the sampler process, which closes the connection,
 * leaves the raw files to this process: two must not merge them at once. */
static int take_answer(int from, int64_t seconds, struct answer *m, struct vt_merge_result *out, struct tkm_err *err)
{
	int64_t until = vt_now_ns(CLOCK_MONOTONIC) + seconds * 1000000000;
	struct vt_attach_head h;
	ssize_t n = vt_attach_receive(from, &h, m, sizeof(*m) - 1, until);
	int rc = -1;

	if (n >= (ssize_t)sizeof(m->answer) && h.kind == VT_ATTACH_MERGED) {
		vt_say_lines(m->lines);
		*out = m->answer.result;
		*err = m->answer.err;
		rc = m->answer.rc;
	} else if (n >= 0) {
		tkm_fail(err, TKM_ERR_UNAVAIL, "%.*s", (int)n, (const char *)m);
	} else if (vt_attach_closed(from)) {
		tkm_fail(err, TKM_ERR_UNAVAIL, "the sampler process has ended");
	} else if (withdraw(from)) {
		tkm_fail(err, TKM_ERR_UNAVAIL, "the sampler process has not answered for %lld s", (long long)seconds);
	} else {
		tkm_fail(err, TKM_ERR_TIMEOUT, "the sampler process goes on to write it after %lld s",
			(long long)seconds);
	}
	return rc;
}

/* The sampler process may have died after it had written the trace: then raw files are gone. */
static int is_made(const struct vt_merge_input *in, size_t n, const char *trace)
{
	size_t i;

	for (i = 0; i < n && (access(in[i].path, F_OK) == 0 || errno != ENOENT); i++) {
	}
	return i < n && access(trace, F_OK) == 0;
}

/* Orders it on this connection, which it closes. */
static int order_merge(
	int to, const char *message, size_t size, int64_t seconds, struct vt_merge_result *out, struct tkm_err *err)
{
	struct answer *m = vt_pages(sizeof(*m));
	int rc = -1;

	if (!m || vt_attach_send(to, VT_ATTACH_MERGE, message, size, -1) < 0) {
		tkm_fail(err, TKM_ERR_UNAVAIL, "the sampler process cannot be reached");
	} else {
		rc = take_answer(to, seconds, m, out, err);
	}
	close(to);
	if (m) {
		munmap(m, sizeof(*m));
	}
	return rc;
}

int vt_outside_merge(const struct vt_merge_input *in, size_t n, const struct vt_merge_options *o,
	struct vt_merge_result *out, struct tkm_err *err)
{
	size_t size = 0;
	char *message = pack_order(in, n, o, &size);
	int tries, fd, rc = -1;

	tkm_fail(err, TKM_ERR_NOMEM, "%zu raw files are too many for one order, or %s has no folder", n, o->trace);
	/* first the one that there is; then one for this merge alone, which no program can attach to */
	for (tries = 0; message && rc < 0 && tries < 2; tries++) {
		fd = vt_vtsampler_connect(&vt_collector, tries, err);
		if (fd >= 0) {
			rc = order_merge(fd, message, size, limit_s(in, n), out, err);
			if (rc < 0 && err->code == TKM_ERR_UNAVAIL && is_made(in, n, o->trace)) {
				tkm_fail(err, TKM_ERR_TIMEOUT,
					"the sampler process has written it, and then ended without an answer");
			}
			if (rc < 0 && err->code != TKM_ERR_UNAVAIL) {
				break;
			}
		}
	}
	if (message) {
		munmap(message, size);
	}
	return rc;
}
