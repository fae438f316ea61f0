/* SPDX-License-Identifier: BSD-3-Clause */
/* A raw file's head and name. */
#include "config.h"
#include "collector-plugin/host/address.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/rootfs.h"
#include "collector-plugin/raw/format.h"
#include "collector-plugin/raw/private.h"
#include "collector-plugin/raw/process.h"
#include "collector-plugin/raw/writer.h"

static void copy_text(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from ? from : "");
}

static void sign_head(struct vt_raw_head *h)
{
	h->check = vt_raw_check(&h->pid, offsetof(struct vt_raw_head, state) - offsetof(struct vt_raw_head, pid), 0);
}

void vt_raw_set_rank(struct vt_raw *r, int rank, int ranks)
{
	if (!r->forgotten) {
		r->head->rank = rank;
		r->head->ranks = ranks;
		sign_head(r->head);
	}
}

void vt_raw_fill_head(struct vt_raw_head *h, const struct vt_raw_options *o, size_t head_size, size_t block_size)
{
	struct timespec ts;

	vt_raw_boot(h->boot, sizeof(h->boot));
	h->order = VT_RAW_ORDER;
	h->version = VT_RAW_VERSION;
	h->head_size = (uint32_t)head_size;
	h->block_size = (uint32_t)block_size;
	h->pid = (uint32_t)getpid();
	h->parent = (uint32_t)getppid();
	h->born = vt_raw_born(0);
	h->rank = o->rank;
	h->ranks = o->ranks;
	h->hz = o->hz;
	h->start_tick = o->start.v;
	clock_gettime(CLOCK_REALTIME, &ts);
	h->start_realtime_ns = (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
	copy_text(h->job, sizeof(h->job), o->job);
	copy_text(h->timer, sizeof(h->timer), o->timer);
	copy_text(h->program, sizeof(h->program), o->program);
	copy_text(h->trace, sizeof(h->trace), o->trace);
	if (gethostname(h->host, sizeof(h->host) - 1) < 0) {
		h->host[0] = '\0';
	}
	vt_own_addresses(h->ip, sizeof(h->ip));
	atomic_store(&h->state, VT_RAW_RECORDING);
	atomic_store(&h->end_tick, o->start.v);
	sign_head(h);
	memcpy(h->magic, VT_RAW_MAGIC, 8);
}

int vt_raw_open_nameless(const char *path, char *temporary)
{
	const char *slash = strrchr(path, '/');
	int fd;

	snprintf(temporary, VT_RAW_PATH_SIZE, "%.*s", (int)(slash ? slash - path : 0), path);
	fd = open(*temporary ? temporary : slash ? "/" : ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0644);
	temporary[0] = '\0';
	if (fd < 0 && errno != ENOSPC && errno != EACCES && errno != EROFS && errno != ENOENT) {
		/* a file system without this */
		snprintf(temporary, VT_RAW_PATH_SIZE, "%s.new", path);
		fd = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
	}
	return fd;
}

int vt_raw_publish(int fd, char *temporary, const char *path)
{
	char self[40];
	int root, rc;

	if (temporary[0]) {
		rc = link(temporary, path);
		if (rc == 0 || errno == EEXIST) {
			int saved = errno;

			unlink(temporary);
			temporary[0] = '\0';
			errno = saved;
			return rc;
		}
		/* nor links */
		return access(path, F_OK) == 0 ? (errno = EEXIST, -1) : rename(temporary, path);
	}
	root = tkm_root_open("/");
	snprintf(self, sizeof(self), "proc/self/fd/%d", fd);
	rc = root < 0 ? -1 : linkat(root, self, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
	if (root >= 0) {
		int saved = errno;

		close(root);
		errno = saved;
	}
	return rc;
}
