/* SPDX-License-Identifier: BSD-3-Clause */
/* When a process was born, where its id counts, and whether it lives. */
#include "config.h"
#include "collector-plugin/raw/process.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/known.h"
#include "base/rootfs.h"
#include "collector-plugin/host/memory.h"
#include "collector-plugin/raw/format.h"

VT_SELDOM uint64_t vt_raw_born(uint32_t pid)
{
	char name[40] = "/proc/self/stat", text[1024], *p;
	int root = tkm_root_open("/"), i;

	if (pid) {
		snprintf(name, sizeof(name), "/proc/%u/stat", pid);
	}
	if (root < 0 || tkm_root_read(root, name, text, sizeof(text)) <= 0) {
		text[0] = '\0';
	}
	if (root >= 0) {
		close(root);
	}
	p = strrchr(text, ')');
	if (p && (p[2] == 'Z' || p[2] == 'X')) {
		return 0;
	}
	for (i = 0; p && i < 20; i++) {
		p = strchr(p + 1, ' ');
	}
	return p ? strtoull(p, NULL, 10) : 0;
}

VT_SELDOM void vt_raw_boot(char *buf, size_t size)
{
	int root = tkm_root_open("/");

	buf[0] = '\0';
	if (root >= 0) {
		tkm_root_line(root, "/proc/sys/kernel/random/boot_id", buf, size);
		close(root);
	}
}

static VT_SELDOM uint64_t inode_below(int root, const char *name)
{
	struct stat st;

	return root >= 0 && fstatat(root, name, &st, 0) == 0 ? st.st_ino : 0;
}

VT_SELDOM struct vt_raw_id vt_raw_own_id(void)
{
	int root = tkm_root_open("/");
	struct vt_raw_id id = { .pid_namespace = inode_below(root, "proc/self/ns/pid"),
		.time_namespace = inode_below(root, "proc/self/ns/time"),
		.born = vt_raw_born(0),
		.pid = (uint32_t)getpid() };

	if (root >= 0) {
		close(root);
	}
	vt_raw_boot(id.boot, sizeof(id.boot));
	return id;
}

struct here {
	struct vt_raw_id id;
	char host[256];
	int above; /* /proc is that of a namespace above */
};

static void look_here(struct here *h)
{
	int root = tkm_root_open("/");

	h->above = root < 0 || tkm_root_is_above(root);
	if (root >= 0) {
		close(root);
	}
	h->id = vt_raw_own_id();
	h->host[sizeof(h->host) - 1] = '\0';
	gethostname(h->host, sizeof(h->host) - 1);
}

/* This process, found once: thousands of raw files are asked about at the end of a job. spare: where it is without memory. */
static const struct here *find_here(struct here *spare)
{
	static struct here *_Atomic known;
	struct here *h = known, *found;

	if (h && h->id.pid == (uint32_t)getpid()) {
		return h;
	}
	found = calloc(1, sizeof(*found));
	if (!found) {
		look_here(spare);
		return spare;
	}
	look_here(found);
	/* another thread may have been faster, and who reads what was there before keeps it */
	if (!atomic_compare_exchange_strong(&known, &h, found)) {
		free(found);
		found = h;
	}
	return found;
}

enum vt_raw_life vt_raw_life(const struct vt_raw_head *head, const struct vt_raw_id *id)
{
	struct here spare;
	const struct here *here = find_here(&spare);
	int same_host = tkm_known_equal(head->host, here->host), same_time;
	uint64_t born;

	if (!id->pid || (!id->boot[0] && !same_host)) {
		return VT_RAW_UNSEEN;
	}
	if (strcmp(id->boot, here->id.boot) != 0) {
		/* before this host was started again, or of another one */
		return id->boot[0] && here->id.boot[0] && !strcmp(id->boot, head->boot) && same_host ? VT_RAW_DEAD
												     : VT_RAW_UNSEEN;
	}
	born = vt_raw_born(id->pid);
	same_time = id->time_namespace == here->id.time_namespace;
	/* also from a namespace below this one or above, whose /proc this process sees */
	if (born && born == id->born && same_time) {
		return VT_RAW_LIVES;
	}
	return id->pid_namespace != here->id.pid_namespace || here->above || (born && (!id->born || !same_time))
		? VT_RAW_UNSEEN
		: VT_RAW_DEAD;
}

/* Beyond all records. A lock of the open file: no other open or close of the file in this process drops it. */
static struct flock lock_of_writer(void)
{
	return (struct flock){ .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = INT64_MAX - 1, .l_len = 1 };
}

VT_SELDOM int vt_raw_disk_of(const char *folder, uint64_t *room)
{
	/* NFS, CIFS, SMB, Ceph, Lustre, GPFS, AFS, PVFS2, BeeGFS, PanFS, OCFS2, GFS2 */
	static const uint32_t shared[] = { NFS_SUPER_MAGIC, 0xff534d42, 0xfe534d42, 0x00c36400, 0x0bd00bd0, 0x47504653,
		AFS_SUPER_MAGIC, 0x20030528, 0x19830326, 0xaad7aaea, 0x7461636f, 0x01161970 };
	struct statfs fs;
	size_t i, n = sizeof(shared) / sizeof(shared[0]);

	if (statfs(folder, &fs) < 0) {
		return -1;
	}
	*room = (uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize;
	for (i = 0; i < n && (uint32_t)fs.f_type != shared[i]; i++) {
	}
	return i < n ? VT_RAW_SHARED : fs.f_type == TMPFS_MAGIC ? VT_RAW_IN_MEMORY : VT_RAW_OWN_DISK;
}

VT_SELDOM void vt_raw_hold(int fd)
{
	static const uint32_t local[] = { EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC, TMPFS_MAGIC,
		OVERLAYFS_SUPER_MAGIC, F2FS_SUPER_MAGIC };
	struct flock lock = lock_of_writer();
	char name[40];
	struct statfs fs;
	size_t i, n = sizeof(local) / sizeof(local[0]);
	int own;

	for (i = 0; fstatfs(fd, &fs) == 0 && i < n && (uint32_t)fs.f_type != local[i]; i++) {
	}
	/* the program has opened it, and its children may have it open, who would hold the lock when all others are dead */
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	own = i < n ? open(name, O_RDWR | O_CLOEXEC) : -1;
	if (own >= 0) {
		if (fcntl(own, F_OFD_SETLK, &lock) == 0) {
			dup3(own, fd, O_CLOEXEC);
		}
		close(own);
	}
}

enum vt_raw_life vt_raw_life_of_file(const char *path, const struct vt_raw_head *head)
{
	enum vt_raw_life life = vt_raw_life(head, &head->id);
	struct flock lock = lock_of_writer();
	struct here spare;
	int fd;

	if (life != VT_RAW_UNSEEN || !head->id.boot[0] || strcmp(head->id.boot, find_here(&spare)->id.boot) != 0) {
		return life;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd >= 0) {
		life = fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK ? VT_RAW_LIVES : life;
		close(fd);
	}
	return life;
}

int vt_raw_is_here(const struct vt_raw_head *head)
{
	struct here spare;

	return tkm_known_equal(head->host, find_here(&spare)->host) &&
		(vt_raw_life(head, &head->id) != VT_RAW_UNSEEN ||
			vt_raw_life(head, &head->sampler_id) != VT_RAW_UNSEEN);
}
