/* SPDX-License-Identifier: BSD-3-Clause */
/* What a process itself reads and writes. The kernel's numbers of a process contain those of each child from the moment when the
 * process waits for it; the numbers of its threads do not. So does something come to the process that no thread has, and has
 * the process waited for a child since, it is the child's; else it is that of a thread that has ended. */
#include "config.h"
#include "sampler/sources/proc.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/rootfs.h"

enum { N_IO = 6, ALL = (1 << N_IO) - 1, N_REAPED = 4, TRIES = 5 };

static const char *const labels[N_IO] = { "rchar:", "wchar:", "syscr:", "syscw:", "read_bytes:", "write_bytes:" };

#define TOTAL .scope = SMP_PROCESS, .kind = SMP_TOTAL
#define BYTES .unit = "bytes", .factor = 1.0 / 1024, .shown_unit = "KB/s"
/* clang-format off */
static const struct smp_counter counters[N_IO] = {
	{ .name = "proc_read", BYTES, .what = "read by the process through system calls, cached or not", TOTAL },
	{ .name = "proc_write", BYTES, .what = "written by the process through system calls, cached or not", TOTAL },
	{ .name = "proc_reads", .unit = "calls", .what = "read system calls of the process", TOTAL },
	{ .name = "proc_writes", .unit = "calls", .what = "write system calls of the process", TOTAL },
	{ .name = "proc_disk_read", BYTES, .what = "fetched from storage for the process", TOTAL },
	{ .name = "proc_disk_write", BYTES, .what = "sent to storage for the process", TOTAL },
};
/* clang-format on */

struct io_numbers {
	uint64_t n[N_IO];
	unsigned found; /* a bit for each */
};

struct io_thread {
	int tid;
	unsigned round;
	struct io_numbers io;
};

struct io_set {
	const struct smp_env *env;
	int32_t pid;
	size_t n;
	struct tkm_printed path;
	struct smp_file whole, stat, main, task;
	int begun, is_parent, has_apart;
	uint64_t reaped[N_REAPED]; /* faults and times of the children waited for */
	struct io_numbers before;  /* of the process, at the last reading */
	uint64_t apart[N_IO], children[N_IO],
		ended[N_IO];      /* what no living thread has; what children had; threads that ended now */
	struct io_thread *thread; /* of a process that has waited for children */
	size_t n_threads, room;
	unsigned round;
	int64_t at_ms;
	struct smp_count count[N_IO];
	unsigned char which[];
};

static struct io_numbers parse_io(const char *text)
{
	struct io_numbers io = { .n = { 0 }, .found = 0 };
	const char *line, *at;
	size_t i, len;

	for (line = text; line && *line; line = smp_next_line(line)) {
		for (i = 0; i < N_IO; i++) {
			len = strlen(labels[i]);
			at = line + len;
			if (strncmp(line, labels[i], len) == 0 && smp_number(&at, &io.n[i]) == 0) {
				io.found |= 1u << i;
			}
		}
	}
	return io;
}

static int open_io_file(struct io_set *s, struct smp_file *f, const char *name)
{
	char folder[16];
	int root, rc = -1;

	if (smp_file_there(f)) {
		return 0;
	}
	root = smp_root(s->env);
	if (root >= 0 && tkm_printed(&s->path, "/proc/%s/%s", smp_task_folder(s->env, s->pid, folder), name)) {
		rc = smp_file_open(f, root, s->path.text);
	}
	if (root >= 0) {
		close(root);
	}
	return rc;
}

static ssize_t read_io_file(struct io_set *s, struct smp_file *f, const char *name, char *text, size_t size)
{
	return open_io_file(s, f, name) < 0 ? -1 : smp_file_read(f, text, size);
}

/* Returns 0 or -1 with errno. */
static int read_whole(struct io_set *s, struct io_numbers *io)
{
	char text[512];

	if (read_io_file(s, &s->whole, "io", text, sizeof(text)) < 0) {
		return -1;
	}
	*io = parse_io(text);
	return 0;
}

/* Faults and times of the children that the process has waited for: a child without any does not exist. */
static int read_reaped(struct io_set *s, uint64_t reaped[N_REAPED])
{
	static const int field[N_REAPED] = { 11, 13, 16, 17 };
	char text[SMP_STAT_SIZE];
	const char *at = open_io_file(s, &s->stat, "stat") == 0 && smp_task_stat(&s->stat, s->pid, text, 0) > 0
		? strrchr(text, ')')
		: NULL;
	int i, k;

	for (i = 2, k = 0; at && k < N_REAPED; k++) {
		for (; at && i < field[k]; i++) {
			at = strchr(at + 1, ' ');
		}
		reaped[k] = at ? strtoull(at + 1, NULL, 10) : 0;
	}
	return at ? 0 : -1;
}

static struct io_thread *io_thread_of(struct io_set *s, int tid)
{
	size_t i;

	for (i = 0; i < s->n_threads && s->thread[i].tid != tid; i++) {
	}
	if (i == s->n_threads) {
		if (TKM_GROW(s->thread, s->room, i + 1) < 0) {
			return NULL;
		}
		s->thread[s->n_threads++] = (struct io_thread){ .tid = tid };
	}
	return &s->thread[i];
}

struct io_walk {
	struct io_set *s;
	int root, incomplete;
};

static int add_io_of_thread(const char *name, void *ctx)
{
	struct io_walk *w = ctx;
	struct io_thread *t = io_thread_of(w->s, atoi(name));
	struct io_numbers io = { .found = 0 };
	char folder[16], path[80], text[512];

	snprintf(path, sizeof(path), "/proc/%s/task/%.20s/io", smp_task_folder(w->s->env, w->s->pid, folder), name);
	if (t && tkm_root_read(w->root, path, text, sizeof(text)) > 0) {
		io = parse_io(text);
	}
	w->incomplete |= !io.found;
	if (io.found) {
		t->io = io;
		t->round = w->s->round;
	}
	return 0;
}

/* Adds up the living threads, and forgets those that have ended. Returns 0 or -1. */
static int add_threads(struct io_set *s, struct io_numbers *sum)
{
	struct io_walk w = { s, smp_root(s->env), 0 };
	char folder[16], path[40];
	size_t i, k;

	snprintf(path, sizeof(path), "/proc/%s/task", smp_task_folder(s->env, s->pid, folder));
	s->round++;
	if (w.root < 0 || smp_dir_each(w.root, path, add_io_of_thread, &w) < 0) {
		w.incomplete = 1;
	}
	if (w.root >= 0) {
		close(w.root);
	}
	*sum = (struct io_numbers){ .found = ALL };
	for (i = 0; i < s->n_threads;) {
		const struct io_thread *t = &s->thread[i];
		uint64_t *to = t->round == s->round ? sum->n : s->ended;

		for (k = 0; k < N_IO; k++) {
			to[k] += t->io.n[k];
		}
		if (t->round == s->round) {
			i++;
		} else {
			s->thread[i] = s->thread[--s->n_threads];
		}
	}
	return w.incomplete ? -1 : 0;
}

/* What the living threads have. Of many threads only where it may be needed. Returns 0 or -1. */
static int read_threads(struct io_set *s, int must, struct io_numbers *sum)
{
	struct stat st;
	char name[40], text[512];
	int rc = -1, one;

	one = open_io_file(s, &s->task, "task") == 0 && fstat(s->task.fd, &st) == 0 && st.st_nlink == 3;
	if (one && s->n_threads == 0) {
		snprintf(name, sizeof(name), "task/%d/io", s->pid ? (int)s->pid : (int)getpid());
		if (read_io_file(s, &s->main, name, text, sizeof(text)) > 0) {
			*sum = parse_io(text);
			return 0;
		}
	}
	if (one || must || s->is_parent || s->n_threads) {
		rc = add_threads(s, sum);
		s->n_threads = s->n_threads == 1 ? 0 : s->n_threads;
	}
	return rc;
}

/* Returns what the process has and no living thread; 0 where the threads were read a moment later and have more. */
static uint64_t apart_from(const struct io_numbers *whole, const struct io_numbers *threads, int i)
{
	return whole->n[i] > threads->n[i] ? whole->n[i] - threads->n[i] : 0;
}

static int nothing_came(const struct io_set *s, const struct io_numbers *whole, const struct io_numbers *threads)
{
	int i;

	for (i = 0; i < N_IO && apart_from(whole, threads, i) <= s->apart[i]; i++) {
	}
	return i == N_IO;
}

static void add_children(struct io_set *s, const struct io_numbers *whole, const struct io_numbers *threads, int has)
{
	uint64_t grown, least;
	int i;

	for (i = 0; i < N_IO; i++) {
		if (has && s->has_apart) {
			grown = apart_from(whole, threads, i);
			least = s->apart[i] + s->ended[i];
		} else {
			/* threads were not looked at before: what the process had itself, or what they have now */
			grown = whole->n[i];
			least = has && threads->n[i] > s->before.n[i] ? threads->n[i] : s->before.n[i];
		}
		s->children[i] += grown > least ? grown - least : 0;
	}
}

/* A process that has not waited for a child between two readings has moved itself what has come. The threads of one that never has
 * are not looked at. Returns 1, or 0: more has to be looked at, or -1 with errno. */
static int read_childless(struct io_set *s, struct io_numbers *whole)
{
	uint64_t reaped[N_REAPED];

	if (!s->begun || s->is_parent) {
		return 0;
	}
	if (read_whole(s, whole) < 0) {
		return -1;
	}
	if (read_reaped(s, reaped) < 0 || memcmp(reaped, s->reaped, sizeof(reaped)) != 0) {
		return 0;
	}
	s->has_apart = 0;
	s->before = *whole;
	return 1;
}

/* Reads the process, and finds what in its numbers is its children's. Returns 0 or -1 with errno. */
static int read_io(struct io_set *s, struct io_numbers *whole)
{
	struct io_numbers threads = { .found = 0 }, again;
	uint64_t reaped[N_REAPED] = { 0 };
	int tries, has = 0, waited = 0, i, rc = read_childless(s, whole);

	if (rc != 0) {
		return rc < 0 ? rc : 0;
	}
	memset(s->ended, 0, sizeof(s->ended));
	for (tries = 0; tries < TRIES; tries++) {
		if (read_whole(s, whole) < 0) {
			return -1;
		}
		has = read_threads(s, waited, &threads) == 0;
		if (has && s->has_apart && nothing_came(s, whole, &threads)) {
			waited = 0;
			break;
		}
		waited = read_reaped(s, reaped) == 0 && memcmp(reaped, s->reaped, sizeof(reaped)) != 0;
		/* a child that was waited for after the process was read is not in its numbers yet */
		if (!waited || (has && read_whole(s, &again) == 0 && memcmp(again.n, whole->n, sizeof(again.n)) == 0)) {
			break;
		}
	}
	if (waited) {
		if (s->begun) {
			add_children(s, whole, &threads, has);
		}
		memcpy(s->reaped, reaped, sizeof(reaped));
		s->is_parent = 1;
	}
	for (i = 0; i < N_IO && has; i++) {
		uint64_t apart = apart_from(whole, &threads, i);

		s->apart[i] = !s->has_apart || apart > s->apart[i] ? apart : s->apart[i];
	}
	s->has_apart = has;
	s->before = *whole;
	s->begun = 1;
	return 0;
}

static void close_io_files(struct io_set *s)
{
	smp_file_close(&s->whole);
	smp_file_close(&s->stat);
	smp_file_close(&s->main);
	smp_file_close(&s->task);
}

static int read_set(void *set, union smp_value *value, uint8_t *state)
{
	static const struct smp_physics can = { 0 };
	struct io_set *s = set;
	struct io_numbers io = { .found = 0 };
	int64_t first = s->at_ms, now = smp_reading_ms(s->env, s->at_ms);
	int valid = 0, rc = read_io(s, &io), error = errno;
	size_t i;

	s->at_ms = now;
	for (i = 0; i < s->n; i++) {
		unsigned k = s->which[i];
		uint64_t own = k < N_IO && io.n[k] > s->children[k] ? io.n[k] - s->children[k] : 0;

		state[i] = 0;
		if (rc == 0 && k < N_IO && io.found & 1u << k) {
			if (!s->count[k].begun) {
				smp_count_begin(&s->count[k], own, first ? 0 : own, now);
				state[i] = SMP_VALID;
			} else {
				state[i] = smp_count_add(&s->count[k], &can, own, now);
			}
			value[i].u = s->count[k].sum;
			valid++;
		}
	}
	if (s->env->flags & SMP_BRIEF) {
		close_io_files(s);
	}
	return rc < 0 && (error == ESRCH || error == ENOENT) ? -1 : valid;
}

static void close_set(void *set)
{
	struct io_set *s = set;

	close_io_files(s);
	free(s->thread);
	free(s->path.text);
	free(s);
}

static void *open_set(const struct smp_env *env, const struct smp_target *target, const char *const *names, size_t n,
	char (*why_each)[SMP_TEXT], char why[SMP_TEXT])
{
	struct io_set *s = calloc(1, sizeof(*s) + n);
	size_t i, k;

	if (!s) {
		smp_why(why, "no memory");
		return NULL;
	}
	s->env = env;
	s->pid = target->pid;
	s->n = n;
	s->whole.fd = s->stat.fd = s->main.fd = s->task.fd = -1;
	if (open_io_file(s, &s->whole, "io") < 0) {
		smp_task_why(env, s->path.text ? s->path.text : "/proc", errno, why);
		close_set(s);
		return NULL;
	}
	for (i = 0; i < n; i++) {
		for (k = 0; k < N_IO && strcmp(counters[k].name, names[i]) != 0; k++) {
		}
		if (k == N_IO) {
			smp_why(why_each[i], "no such counter");
		}
		s->which[i] = (unsigned char)k;
	}
	return s;
}

static int list(const struct smp_env *env, const char *hint, smp_each each, void *ctx, char why[SMP_TEXT])
{
	static const char path[] = "/proc/self/io";
	char text[512] = "", reason[SMP_TEXT];
	struct io_numbers io;
	int root, i, rc = 0;
	ssize_t len = -1;

	(void)why;
	for (i = 0; i < N_IO && !smp_is_hinted(hint, counters[i].name); i++) {
	}
	if (i == N_IO) {
		return 0;
	}
	root = smp_root(env);
	errno = 0;
	if (root >= 0) {
		len = tkm_root_read(root, path, text, sizeof(text));
		close(root);
	}
	io = parse_io(text);
	reason[0] = '\0';
	if (len < 0 || io.found != ALL) {
		smp_task_why(env, path, len < 0 ? errno : 0, reason);
	}
	for (i = 0; rc == 0 && i < N_IO; i++) {
		struct smp_counter c = counters[i];

		c.missing = io.found & 1u << i ? NULL : reason;
		rc = each(&c, ctx);
	}
	return rc;
}

const struct smp_source smp_proc_io = {
	.abi = VTSOURCE_ABI,
	.size = sizeof(struct smp_source),
	.name = "io",
	.what = "what the process itself reads and writes",
	.list = list,
	.open = open_set,
	.read = read_set,
	.close = close_set,
};
