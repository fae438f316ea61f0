/* SPDX-License-Identifier: BSD-3-Clause */
/* Anything as a file of /proc or /sys, for every parser of the counter sources. The files are those of the snapshots in tests/proc, one
 * of each kind. The first line of the input is the file's name; the rest is its content at the first read, and backwards at the
 * second, so that totals fall, wrap and vanish. With clang -fsanitize=fuzzer it searches; built plainly it makes inputs from a
 * fixed seed out of true ones, and reads the files that are named too. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <ctype.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sampler/source.h"

enum { MAX = 2048, LONGEST = 8192, FILES = 200, RULES = 12 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct file {
	char path[128], kind[128]; /* below `top`; without its digits */
	size_t size;
	uint8_t seed[LONGEST];
	char rule[RULES][64]; /* the counters that it decides about, some of them; or all */
	size_t rules;         /* 0: not known yet */
} file[FILES];
static size_t files;

static char top[] = "/dev/shm/fuzz_sampler.XXXXXX";

static void put(const char *path, const uint8_t *data, size_t size)
{
	char full[256], *slash;
	int fd;

	snprintf(full, sizeof(full), "%s%s", top, path);
	for (slash = full + sizeof(top); (slash = strchr(slash, '/')) != NULL; slash++) {
		*slash = '\0';
		mkdir(full, 0700);
		*slash = '/';
	}
	fd = open(full, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size) {
		abort();
	}
	close(fd);
}

static void clean(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", top);
	if (system(command)) {
		abort();
	}
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct file *)a)->path, ((const struct file *)b)->path);
}

/* A file of a snapshot; of a kind the first by name, whatever the order in the folder. */
static int add(const char *path, const struct stat *st, int type, struct FTW *unused)
{
	struct file *f;
	char kind[sizeof(f->kind)];
	const char *p = path + strlen(top);
	size_t i, k = 0;
	FILE *in;

	(void)unused;
	if (type != FTW_F || st->st_size > LONGEST || strlen(p) >= sizeof(f->path)) {
		return 0;
	}
	for (i = 0; p[i]; i++) {
		if (!isdigit((unsigned char)p[i])) {
			kind[k++] = p[i];
		}
	}
	kind[k] = '\0';
	for (i = 0; i < files && strcmp(file[i].kind, kind); i++) {
	}
	f = &file[i];
	if (i >= FILES) {
		abort();
	}
	in = i < files && strcmp(f->path, p) < 0 ? NULL : fopen(path, "rb");
	if (in) {
		strcpy(f->path, p);
		strcpy(f->kind, kind);
		f->size = fread(f->seed, 1, sizeof(f->seed), in);
		fclose(in);
		files += i == files;
	}
	return 0;
}

static void set_up(void)
{
	const char *from = getenv("top_srcdir");
	char command[512];

	if (!mkdtemp(top)) {
		strcpy(top, "/tmp/fuzz_sampler.XXXXXX");
		if (!mkdtemp(top)) {
			abort();
		}
	}
	atexit(clean);
	snprintf(command, sizeof(command),
		"cd '%s/tests/proc' && for f in *.snap; do sh gather.sh --unpack %s <$f || exit 1; done",
		from ? from : ".", top);
	if (system(command) || nftw(top, add, 20, FTW_PHYS)) {
		abort();
	}
	qsort(file, files, sizeof(file[0]), by_path);
}

/* The file that the first line names, or any other. Returns where its content begins. */
static const uint8_t *find(const uint8_t *data, size_t size, struct file **f)
{
	const uint8_t *end = memchr(data, '\n', size);
	size_t len = end ? (size_t)(end - data) : 0, i, sum = 0;

	for (i = 0; i < files; i++) {
		if (strlen(file[i].path) == len && !memcmp(file[i].path, data, len)) {
			break;
		}
	}
	for (; i == files && len > 0; len--) {
		sum = sum * 31 + data[len - 1];
	}
	*f = &file[i < files ? i : sum % files];
	return end ? end + 1 : data + size;
}

static void read_all(
	const struct smp_plan *plan, const struct file *f, const uint8_t *data, size_t size, enum smp_scope scope)
{
	static union smp_value value[MAX];
	static uint8_t state[MAX], back[LONGEST];
	struct smp_set *set;
	size_t i;

	put(f->path, data, size);
	set = smp_set_open(plan, &(struct smp_target){ scope, 0, scope == SMP_THREAD ? 7 : 0 }, NULL);
	if (set && smp_set_size(set) <= MAX) {
		smp_set_read(set, value, state);
		for (i = 0; i < size; i++) {
			back[i] = data[size - 1 - i];
		}
		put(f->path, back, size);
		smp_set_read(set, value, state);
		put(f->path, back, 0);
		smp_set_read(set, value, state);
	}
	smp_set_close(set);
}

static struct smp_plan *plan_all(const char *const *rules, size_t n)
{
	static struct smp_env env; /* outlives the plans */
	struct smp_plan *plan;

	smp_env_init(&env);
	env.root = top;
	env.flags = SMP_FAST;
	plan = smp_plan_open(&env, rules, n, NULL, 0, NULL);
	if (!plan) {
		abort();
	}
	return plan;
}

static int is_there(const struct smp_plan *plan, const char *name)
{
	const struct smp_planned *p;
	size_t i;

	for (i = 0; i < smp_plan_size(plan); i++) {
		p = smp_plan_at(plan, i);
		if (!strcmp(p->counter.name, name)) {
			return !p->counter.missing;
		}
	}
	return 0;
}

/* What is there with the file, and not without. A plan of all counters for each input would take most of the time. */
static void find_rules(struct file *f)
{
	static const char *const all[] = { "** on", "proc_* on", "main_* on", "thread_* on" };
	struct smp_plan *with, *without;
	const struct smp_planned *p;
	size_t i;

	put(f->path, f->seed, f->size);
	with = plan_all(all, 4);
	put(f->path, f->seed, 0);
	without = plan_all(all, 4);
	for (i = 0; i < smp_plan_size(with) && f->rules < RULES; i++) {
		p = smp_plan_at(with, i);
		if (!p->counter.missing && !is_there(without, p->counter.name)) {
			snprintf(f->rule[f->rules++], sizeof(f->rule[0]), "%s on", p->counter.name);
		}
	}
	for (i = 0; f->rules == 0 && i < 4; i++) {
		strcpy(f->rule[i], all[i]);
	}
	f->rules = f->rules ? f->rules : 4;
	smp_plan_close(with);
	smp_plan_close(without);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *rules[RULES];
	struct file *f;
	const uint8_t *text;
	struct smp_plan *plan;
	size_t i;
	int scope;

	if (!files) {
		set_up();
	}
	if (size < 1 || size > LONGEST) {
		return 0;
	}
	text = find(data, size, &f);
	size -= (size_t)(text - data);
	if (!f->rules) {
		find_rules(f);
	}
	for (i = 0; i < f->rules; i++) {
		rules[i] = f->rule[i];
	}
	put(f->path, text, size);
	plan = plan_all(rules, f->rules);
	for (scope = SMP_NODE; scope <= SMP_THREAD; scope++) {
		read_all(plan, f, text, size, (enum smp_scope)scope);
	}
	smp_plan_close(plan);
	put(f->path, f->seed, f->size);
	return 0;
}

#ifndef FUZZING
static uint64_t random_state = 20261121;

static uint64_t draw(void)
{
	uint64_t z = (random_state += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* A true text with some of its bytes cut, doubled, made others or huge numbers. */
static size_t damage(uint8_t *out, const struct file *f)
{
	size_t n = f->size, head = strlen(f->path) + 1, at, len;
	int i;

	snprintf((char *)out, head + 1, "%s\n", f->path);
	out += head;
	memcpy(out, f->seed, n);
	for (i = (int)(draw() % 4); i >= 0 && n > 0; i--) {
		at = draw() % n;
		switch (draw() % 5) {
		case 0:
			n = at;
			break;
		case 1:
			out[at] = (uint8_t)draw();
			break;
		case 2:
			len = draw() % (n - at);
			memmove(out + at, out + at + len, n - at - len);
			n -= len;
			break;
		case 3:
			len = n - at;
			if (2 * n < LONGEST - 64) {
				memmove(out + n, out + at, len);
				n += len;
			}
			break;
		default:
			if (n < LONGEST - 64) {
				memmove(out + at + 24, out + at, n - at);
				memcpy(out + at, "999999999999999999999999", 24);
				n += 24;
			}
		}
	}
	return head + n;
}

static int read_input(const char *path)
{
	static uint8_t buf[LONGEST + 1];
	FILE *f = fopen(path, "rb");
	size_t n = f ? fread(buf, 1, sizeof(buf), f) : 0;

	if (!f) {
		perror(path);
		return 1;
	}
	fclose(f);
	LLVMFuzzerTestOneInput(buf, n);
	return 0;
}

int main(int argc, char **argv)
{
	static uint8_t buf[LONGEST + 256];
	int i, times = 3, bad = 0;
	size_t t;

	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "-n") && i + 1 < argc) {
			times = atoi(argv[++i]);
		} else {
			bad |= read_input(argv[i]);
		}
	}
	LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
	for (t = 0; t < files; t++) {
		for (i = 0; i < times; i++) {
			LLVMFuzzerTestOneInput(buf, damage(buf, &file[t]));
		}
		printf("ok %zu - %d damaged texts of %s\n", t + 1, times, file[t].path);
	}
	printf("1..%zu\n", files);
	return bad;
}
#endif
