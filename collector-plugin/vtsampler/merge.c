/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the trace that a process has ordered at its end (run/outside.h). */
#include "config.h"
#include "collector-plugin/vtsampler/vtsampler.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cpus.h"
#include "collector-plugin/host/say.h"
#include "collector-plugin/raw/reader.h"
#include "collector-plugin/run/outside.h"

static void say_warning(void *ctx, const char *line)
{
	(void)ctx;
	vt_say(1, "WARNING", "%s", line);
}

static void say_info(void *ctx, const char *line)
{
	(void)ctx;
	vt_say(1, "INFO", "%s", line);
}

/* Takes the next text of the message. NULL: there is none. */
static const char *next_text(const char **at, const char *end)
{
	const char *text = *at, *zero = text < end ? memchr(text, 0, (size_t)(end - text)) : NULL;

	*at = zero ? zero + 1 : end;
	return zero ? text : NULL;
}

/* Is the folder of the trace the one that the program sees, and does this process see all raw files? They are of one job. */
static int sees_all(const struct vt_merge_order *order, const struct vt_merge_input *in)
{
	const char *slash = strrchr(order->o.trace, '/');
	struct vt_raw_head h, first;
	char folder[1100];
	struct stat st;
	uint32_t i;

	if (!slash || (size_t)(slash - order->o.trace) >= sizeof(folder)) {
		return 0;
	}
	snprintf(folder, sizeof(folder), "%.*s", (int)(slash + 1 - order->o.trace), order->o.trace);
	if (stat(folder, &st) < 0 || (uint64_t)st.st_dev != order->device || (uint64_t)st.st_ino != order->inode ||
		vt_raw_read_head(in[0].path, &first) < 0) {
		return 0;
	}
	for (i = 0; i < order->files && vt_raw_read_head(in[i].path, &h) == 0 && !strcmp(h.job, first.job); i++) {
	}
	return i == order->files;
}

/* Reads what follows the order. Returns the inputs, which the caller frees, or NULL. */
static struct vt_merge_input *read_order(
	struct vt_merge_order *order, struct tkm_cpus *cpus, const char *body, size_t size)
{
	const char *at = body + sizeof(*order), *end = body + size;
	struct vt_merge_input *in = NULL;
	uint32_t i;

	memcpy(order, body, sizeof(*order));
	if (order->cpu_bytes > (size_t)(end - at) || order->files > size || order->files == 0) {
		return NULL;
	}
	if (order->cpu_bytes && tkm_cpus_make(cpus, order->cpu_bytes) == 0) {
		memcpy(cpus->set, at, order->cpu_bytes);
	}
	at += order->cpu_bytes;
	order->o.trace = next_text(&at, end);
	order->o.nmcmd = next_text(&at, end);
	in = order->o.nmcmd ? calloc(order->files, sizeof(*in)) : NULL;
	for (i = 0; in && i < order->files; i++) {
		in[i].path = next_text(&at, end);
		if (!in[i].path) {
			free(in);
			in = NULL;
		}
	}
	order->o.nmcmd = order->o.nmcmd && *order->o.nmcmd ? order->o.nmcmd : NULL;
	order->o.summary = order->has_summary ? say_info : NULL;
	order->o.say = say_warning;
	order->o.cpus = cpus->set ? cpus : NULL;
	order->o.info = NULL;
	order->o.ctx = NULL;
	return in;
}

int vt_measured_is_held(const struct vt_measured *p)
{
	int fd = open(p->c.raw_path, O_RDWR | O_CLOEXEC | O_NOFOLLOW),
	    held = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;

	if (fd >= 0) {
		close(fd);
	}
	return held;
}

/* Locks the raw files, for the sampler processes of other hosts, where the ranks may have ended meanwhile. Returns descriptors for
 * let_go(), or NULL. */
static int *hold(const struct vt_merge_input *in, uint32_t n)
{
	int *fd = calloc(n, sizeof(*fd));
	uint32_t i;

	for (i = 0; fd && i < n; i++) {
		fd[i] = open(in[i].path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
		if (fd[i] >= 0 && flock(fd[i], LOCK_SH | LOCK_NB) < 0) {
			close(fd[i]);
			fd[i] = -1;
		}
	}
	return fd;
}

static void let_go(int *fd, uint32_t n)
{
	uint32_t i;

	for (i = 0; fd && i < n; i++) {
		if (fd[i] >= 0) {
			close(fd[i]);
		}
	}
	free(fd);
}

void vt_measured_merge(int to, const char *body, size_t size)
{
	static const char why[] = "it does not see the folder of the trace, or a raw file";
	struct vt_measured *p = calloc(1, sizeof(*p)); /* takes the lines */
	struct {
		struct vt_merge_answer answer;
		char lines[sizeof(p->lines)];
	} *m = calloc(1, sizeof(*m));
	struct tkm_cpus cpus = { .set = NULL };
	struct vt_merge_order order;
	struct vt_merge_input *in = size > sizeof(order) ? read_order(&order, &cpus, body, size) : NULL;

	if (!m || !p || !in || vt_attach_closed(to) || !sees_all(&order, in)) {
		/* who has waited too long takes the order back, and makes the trace without this process */
		vt_attach_send(to, VT_ATTACH_REFUSED, why, strlen(why), -1);
	} else {
		int *held = hold(in, order.files);

		p->c.settings.verbose = order.verbose;
		p->c.pub.rank = order.rank;
		vt_say_to_measured(p);
		m->answer.rc = vt_merge_recorded(in, order.files, &order.o, &m->answer.result, &m->answer.err);
		let_go(held, order.files);
		memcpy(m->lines, p->lines, p->lines_size);
		vt_attach_send(to, VT_ATTACH_MERGED, m, sizeof(m->answer) + p->lines_size, -1);
		vt_say_to_measured(NULL);
	}
	free(p);
	tkm_cpus_free(&cpus);
	free(in);
	free(m);
}
