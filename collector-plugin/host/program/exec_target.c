/* SPDX-License-Identifier: BSD-3-Clause */
/* Can a library be preloaded into a program? The dynamic linker does the preloading. Therefore it is impossible if
 * the program has no dynamic linker, has another one, or gains privileges. */
#include "config.h"
#include "collector-plugin/host/program/exec_target.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "collector-plugin/host/program/needed.h"

enum { DEPTH = 4 }; /* nested scripts, as many as the kernel follows */

static int find_in_path(const char *name, char *path, size_t size)
{
	const char *p = getenv("PATH"), *end;
	int seen = ENOENT;
	struct stat st;

	for (p = p ? p : "/usr/local/bin:/bin:/usr/bin";; p = end + 1) {
		end = p + strcspn(p, ":");
		snprintf(path, size, "%.*s%s%s", (int)(end - p), p, end > p ? "/" : "", name);
		if (stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
			if (access(path, X_OK) == 0) {
				return 0;
			}
			seen = EACCES;
		}
		if (!*end) {
			return seen;
		}
	}
}

/* Does the dynamic linker go into secure mode, in which it ignores LD_PRELOAD? Returns the reason, or NULL. */
static const char *gains_privileges(const struct stat *st, const char *path)
{
	char caps[64];

	if ((st->st_mode & S_ISUID) && st->st_uid != geteuid()) {
		return "it is setuid";
	}
	if ((st->st_mode & S_ISGID) && (st->st_mode & S_IXGRP) && st->st_gid != getegid()) {
		return "it is setgid";
	}
	if (geteuid() != 0 && getxattr(path, "security.capability", caps, sizeof(caps)) > 0) {
		return "it has file capabilities";
	}
	return NULL;
}

/* Checks an ELF file. Returns NULL if our library can be loaded into it, else the reason. */
static const char *check_elf(int fd, const unsigned char *head)
{
	const Elf64_Ehdr *e = (const Elf64_Ehdr *)(const void *)head;
	Elf64_Phdr p;
	char interp[256] = "";
	int i;

	if (head[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32)) {
		return "it is a 32-bit program and the library is not";
	}
	for (i = 0; i < e->e_phnum && i < 256; i++) {
		if (pread(fd, &p, sizeof(p), (off_t)(e->e_phoff + (size_t)i * e->e_phentsize)) != (ssize_t)sizeof(p)) {
			break;
		}
		if (p.p_type == PT_INTERP && p.p_filesz < sizeof(interp)) {
			if (pread(fd, interp, p.p_filesz, (off_t)p.p_offset) < 0) {
				interp[0] = '\0';
			}
		}
	}
	if (!interp[0]) {
		return "it is statically linked, so that no library can be put into it";
	}
	return strstr(interp, "musl") ? "it uses musl libc and the library glibc" : NULL;
}

/* Finds the interpreter after "#!". Returns 0 or -1. */
static int interpreter(const char *head, char *path, size_t size)
{
	const char *p = head + 2 + strspn(head + 2, " \t");
	size_t n = strcspn(p, " \t\n");

	if (n == 0 || n >= size) {
		return -1;
	}
	memcpy(path, p, n);
	path[n] = '\0';
	return 0;
}

static int is_address_sanitizer(const char *name, void *ctx)
{
	(void)ctx;
	return !strncmp(name, "libasan.so", 10) || !strncmp(name, "libclang_rt.asan", 16);
}

/* A sanitizer's library must be loaded first; if it is not, the program ends at once. */
static const char *check_sanitizer(const char *path)
{
	const char *preload = getenv("LD_PRELOAD");

	if ((preload && strstr(preload, "asan")) || !vt_each_needed(path, is_address_sanitizer, NULL)) {
		return NULL;
	}
	return "it is built with AddressSanitizer, which must be loaded before any other library";
}

static int look_inside(const char *path, int depth, struct tkm_err *err)
{
	_Alignas(8) char head[512] = "";
	const char *gains, *why = NULL;
	char next[300];
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc = 0;
	ssize_t n = fd < 0 ? -1 : pread(fd, head, sizeof(head) - 1, 0);

	if (n < 0) {
		/* executable but not readable: nothing can be checked */
		goto out;
	}
	gains = fstat(fd, &st) == 0 ? gains_privileges(&st, path) : NULL;
	if (n > 2 && head[0] == '#' && head[1] == '!') {
		/* the kernel ignores the setuid and setgid bits of scripts */
		if (depth < DEPTH && interpreter(head, next, sizeof(next)) == 0) {
			rc = look_inside(next, depth + 1, err);
		}
		goto out;
	}
	if (gains) {
		tkm_fail(err, TKM_ERR_UNAVAIL, "%s runs unsampled: %s", path, gains);
		rc = VT_EXEC_UNSAMPLED;
		goto out;
	}
	if (n >= (ssize_t)sizeof(Elf64_Ehdr) && !memcmp(head, ELFMAG, SELFMAG)) {
		why = check_elf(fd, (const unsigned char *)head);
		why = why ? why : check_sanitizer(path);
	}
	if (why) {
		tkm_fail(err, TKM_ERR_UNAVAIL, "%s is recorded from outside only: %s", path, why);
		rc = VT_EXEC_OUTSIDE;
	}
out:
	if (fd >= 0) {
		close(fd);
	}
	return rc;
}

int vt_exec_target(const char *name, char *path, size_t size, int *status, struct tkm_err *err)
{
	struct stat st;
	int rc = 0;

	snprintf(path, size, "%s", name);
	if (!strchr(name, '/')) {
		rc = find_in_path(name, path, size);
	} else if (stat(path, &st) < 0) {
		rc = errno;
	} else if (S_ISDIR(st.st_mode)) {
		rc = EISDIR;
	} else if (access(path, X_OK) < 0) {
		rc = errno;
	}
	if (rc) {
		*status = rc == ENOENT || rc == ENOTDIR ? 127 : 126;
		return rc == ENOENT && !strchr(name, '/')
			? tkm_fail(err, TKM_ERR_IO, "cannot run %s: no folder of PATH has it%s%s", name,
				  access(name, X_OK) == 0 ? "; this folder has: ./" : "",
				  access(name, X_OK) == 0 ? name : "")
			: tkm_fail_errno(err, TKM_ERR_IO, rc, "cannot run %s", name);
	}
	return look_inside(path, 0, err);
}
