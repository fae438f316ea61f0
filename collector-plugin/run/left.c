/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "collector-plugin/run/left.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/text/quote.h"
#include "base/text/text.h"
#include "collector-plugin/host/say.h"
#include "collector-plugin/raw/process.h"
#include "collector-plugin/raw/reader.h"

/* Is it being merged? The lock is shared, because NFS has no other one for what is open to read only. */
static int is_locked(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW),
	    is = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;

	if (fd >= 0) {
		close(fd);
	}
	return is;
}

/* Have all ended that could make a trace of it? On another host, or in another container, they may still run. The processes of a job
 * may also have closed their files, and been killed before one ordered the trace. */
static int is_left(const char *path, const struct vt_raw_head *h)
{
	return h->state != VT_RAW_MERGED && !h->kept && vt_raw_life(h, &h->id) == VT_RAW_DEAD &&
		(!h->sampler_id.pid || vt_raw_life(h, &h->sampler_id) == VT_RAW_DEAD) &&
		(!h->merger_id.pid || vt_raw_life(h, &h->merger_id) == VT_RAW_DEAD) && !is_locked(path);
}

void vt_left_add(struct vt_left *f, const char *path, const struct vt_raw_head *h)
{
	if (vt_raw_head_alive(path, h)) {
		tkm_append_text(&f->running, &f->n_running, h->job);
	} else if (is_left(path, h)) {
		tkm_append_text(&f->path, &f->n, path);
	}
}

void vt_left_free(struct vt_left *f)
{
	tkm_free_texts(f->path, f->n);
	tkm_free_texts(f->running, f->n_running);
}

/* Is it one of the list? */
static int is_listed(char *const *list, size_t n, const char *text)
{
	while (n > 0 && strcmp(list[n - 1], text) != 0) {
		n--;
	}
	return n > 0;
}

FILE *vt_left_protocol(const char *path, const char *job, int how)
{
	FILE *f = tkm_open_text(path, how);
	char line[4096], key[100];
	int is = 0;

	snprintf(key, sizeof(key), "INFO JOB \"%.64s\"\n", job);
	while (f && !is && fgets(line, sizeof(line), f)) {
		is = !strcmp(line, key);
	}
	if (f && !is) {
		fclose(f);
	}
	return is ? f : NULL;
}

/* Writes the name of the protocol of h's job, for a shell, unless another run has replaced it. Returns 0 or -1. */
static int name_protocol(const struct vt_raw_head *h, char *to, size_t size)
{
	size_t n = strlen(h->trace);
	char path[1100];
	FILE *f;

	n -= n > 4 && !strcmp(h->trace + n - 4, ".stf") ? 4 : 0;
	snprintf(path, sizeof(path), "%.*s.prot", (int)n, h->trace);
	f = vt_left_protocol(path, h->job, O_RDONLY);
	if (f) {
		fclose(f);
	}
	tkm_shell_word(to, size, path);
	return f ? 0 : -1;
}

void vt_left_say(const struct vt_left *f)
{
	const char *first = NULL;
	struct vt_raw_head h;
	char files[1000] = "", word[4500];
	char job[sizeof(h.job)] = "";
	size_t i, others = 0;
	int all = 1;

	for (i = 0; i < f->n; i++) {
		if (vt_raw_read_head(f->path[i], &h) < 0 || is_listed(f->running, f->n_running, h.job)) {
			continue;
		}
		if (first && strcmp(job, h.job) != 0) {
			others++;
			continue;
		}
		tkm_shell_word(word, sizeof(word), f->path[i]);
		if (!first) {
			first = f->path[i];
			memcpy(job, h.job, sizeof(job));
		}
		if (strlen(files) + strlen(word) + 2 <= sizeof(files)) {
			snprintf(files + strlen(files), sizeof(files) - strlen(files), " %s", word);
		} else {
			all = 0;
		}
	}
	if (first && vt_raw_read_head(first, &h) == 0 && name_protocol(&h, word, sizeof(word)) == 0) {
		vt_say(1, "INFO", "an earlier run left raw files; stftool %s --merge FILE.stf makes its trace", word);
	} else if (first) {
		vt_say(1, "INFO", "an earlier run left raw files; stftool%s --merge FILE.stf makes %s", files,
			all ? "its trace" : "a trace of these of its raw files");
	}
	if (others) {
		vt_say(1, "INFO", "raw files of further runs, in the same folder: %zu", others);
	}
}
