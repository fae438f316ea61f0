/* SPDX-License-Identifier: BSD-3-Clause */
/* How the CPUs' time is used, from /proc/stat: cpu_idle, cpu_sys and cpu_usr of the Intel Trace Collector guide, and
 * three counters for what these leave out. All six together are the whole time. They are recorded as the kernel keeps
 * them, in ticks. */
#include "config.h"
#include "sampler/private.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/rootfs.h"
#include "base/text/text.h"

enum { COLUMNS = 8, CLASSES = 6, MAX_CPUS = 1 << 16 };

/* Columns of /proc/stat: user nice system idle iowait irq softirq steal; guest time is in user and nice. */
static const struct {
	const char *name, *what;
	unsigned char column[2];
	/* clang-format off */
} class_of[CLASSES] = {
	{ "cpu_idle", "CPU time spent idle", { 3, 3 } },
	{ "cpu_sys", "CPU time spent in system code", { 2, 2 } },
	{ "cpu_usr", "CPU time spent in user code, niced and guests' included", { 0, 1 } },
	{ "cpu_iowait", "CPU time spent idle while a task waited for disk I/O", { 4, 4 } },
	{ "cpu_irq", "CPU time spent in interrupts and soft interrupts", { 5, 6 } },
	{ "cpu_steal", "CPU time that the hypervisor gave to others", { 7, 7 } },
};
/* clang-format on */

struct wanted {
	int cpu; /* -1: all together */
	unsigned char column[2];
	uint64_t raw, whole; /* of this reading, and of its line; 0: no line */
	struct smp_count count;
	uint64_t shown, left; /* of all together: what is shown of count.sum, and what the division left over */
};

struct set {
	struct smp_file file;
	const struct smp_env *env;
	size_t n, size;
	int highest;     /* CPU asked for; -1: of the lines of single CPUs only the number counts */
	int n_cpus;      /* that there can be */
	int n_start;     /* that were on when the set was opened, of which cpu_idle and the others are percent */
	int n_on;        /* when it was read last */
	int settling;    /* reads to come whose values may hold a jump, because a CPU was switched off or on */
	int64_t read_ms; /* when the last values were read; 0: not yet */
	char *buf;
	struct wanted want[];
};

static double hertz(const struct smp_env *env)
{
	long hz = smp_live(env) ? sysconf(_SC_CLK_TCK) : 100;

	return hz > 0 ? (double)hz : 100;
}

/* Reads the label of a line of /proc/stat: -1 for "cpu ", N for "cpuN ". Returns the position after it,
 * NULL for any other line. */
static const char *cpu_label(const char *line, int *cpu)
{
	uint64_t v;

	if (strncmp(line, "cpu", 3) != 0) {
		return NULL;
	}
	line += 3;
	*cpu = -1;
	if (*line != ' ') {
		if (smp_number(&line, &v) < 0 || v > MAX_CPUS) {
			return NULL;
		}
		*cpu = (int)v;
	}
	return *line == ' ' ? line : NULL;
}

/* The columns that old kernels lack are 0. Returns 0, or -1 when even the first four are not there. */
static int columns(const char *p, uint64_t v[COLUMNS])
{
	int i;

	memset(v, 0, COLUMNS * sizeof(*v));
	for (i = 0; i < COLUMNS; i++) {
		if (smp_number(&p, &v[i]) < 0) {
			return i >= 4 ? 0 : -1;
		}
	}
	return 0;
}

static int list_cpu_counter(int class, int cpu, double factor, smp_each each, void *ctx)
{
	char name[40];
	struct smp_counter c = {
		.name = name,
		.unit = "ticks",
		.what = class_of[class].what,
		.scope = SMP_NODE,
		.type = SMP_U64,
		.kind = SMP_TOTAL,
		.factor = factor,
		.shown_unit = "percent",
	};

	if (cpu < 0) {
		snprintf(name, sizeof(name), "%s", class_of[class].name);
	} else {
		snprintf(name, sizeof(name), "%s:cpu%d", class_of[class].name, cpu);
	}
	return each(&c, ctx);
}

/* Reads all of /proc/stat that begins with "cpu" into own pages; the caller frees them. */
static char *read_proc_stat(const struct smp_env *env, size_t *size)
{
	int root = smp_root(env);
	char *buf = NULL, *last;
	ssize_t n = -1;

	for (*size = 64 * 1024; root >= 0 && *size <= (size_t)16 << 20; *size *= 4) {
		buf = malloc(*size);
		n = buf ? tkm_root_read(root, "/proc/stat", buf, *size) : -1;
		last = n > 0 ? strstr(buf, "\nintr") : NULL;
		if (last || !buf || n < (ssize_t)*size - 1) {
			break;
		}
		free(buf);
		buf = NULL;
	}
	if (root >= 0) {
		close(root);
	}
	if (n <= 0) {
		free(buf);
		buf = NULL;
	}
	return buf;
}

static int count_cpus(const char *buf)
{
	const char *line, *p;
	uint64_t v[COLUMNS];
	int cpu, last = -1, n = 0;

	for (line = buf; line; line = smp_next_line(line)) {
		p = cpu_label(line, &cpu);
		if (p && columns(p, v) == 0) {
			n += cpu >= 0 && cpu != last;
			last = cpu;
		}
	}
	return n;
}

static int list(const struct smp_env *env, const char *hint, smp_each each, void *ctx, char why[SMP_TEXT])
{
	const char *line, *p;
	size_t size;
	char *buf;
	int rc = 0, class, cpu, n_cpus, per_cpu = strchr(hint, ':') != NULL || strstr(hint, "**") != NULL;

	if (!tkm_glob_may_match(hint, "cpu_")) {
		return 0;
	}
	buf = read_proc_stat(env, &size);
	if (!buf) {
		return smp_why(why, "%s", smp_why_closed(errno, "/proc/stat cannot be read: is /proc mounted?"));
	}
	n_cpus = count_cpus(buf);
	for (class = 0; rc == 0 && class < CLASSES; class ++) {
		rc = list_cpu_counter(class, -1, 100 / hertz(env) / (n_cpus ? n_cpus : 1), each, ctx);
	}
	for (line = per_cpu ? buf : NULL; rc == 0 && line; line = smp_next_line(line)) {
		p = cpu_label(line, &cpu);
		for (class = 0; rc == 0 && p && cpu >= 0 && class < CLASSES; class ++) {
			rc = list_cpu_counter(class, cpu, 100 / hertz(env), each, ctx);
		}
	}
	free(buf);
	return rc;
}

/* "cpu_idle" or "cpu_idle:cpu3". Returns 0 or -1. */
static int parse_cpu_name(const char *name, struct wanted *w)
{
	const char *colon = strchr(name, ':');
	size_t len = colon ? (size_t)(colon - name) : strlen(name);
	long long cpu;
	int i;

	for (i = 0; i < CLASSES; i++) {
		if (strlen(class_of[i].name) == len && memcmp(class_of[i].name, name, len) == 0) {
			break;
		}
	}
	*w = (struct wanted){ .cpu = -1 };
	if (i == CLASSES) {
		return -1;
	}
	memcpy(w->column, class_of[i].column, sizeof(w->column));
	if (colon) {
		if (strncmp(colon, ":cpu", 4) != 0 || tkm_parse_int(colon + 4, 0, MAX_CPUS, &cpu) < 0) {
			return -1;
		}
		w->cpu = (int)cpu;
	}
	return 0;
}

static void close_set(void *set)
{
	struct set *s = set;

	smp_file_close(&s->file);
	free(s->buf);
	free(s);
}

static int reopen_proc_stat(struct set *s)
{
	int root = smp_root(s->env), rc, saved;

	if (root < 0) {
		return -1;
	}
	rc = smp_file_open(&s->file, root, "/proc/stat");
	saved = errno;
	close(root);
	errno = saved;
	return rc;
}

static void *open_set(const struct smp_env *env, const struct smp_target *target, const char *const *names, size_t n,
	char (*why_each)[SMP_TEXT], char why[SMP_TEXT])
{
	struct set *s = calloc(1, sizeof(*s) + n * sizeof(s->want[0]));
	long configured = sysconf(_SC_NPROCESSORS_CONF);
	size_t i, size;
	char *all;

	(void)target;
	if (!s) {
		smp_why(why, "no memory");
		return NULL;
	}
	s->env = env;
	s->n = n;
	s->highest = -1;
	s->file.fd = -1;
	all = read_proc_stat(env, &size);
	s->n_start = s->n_on = s->n_cpus = all ? count_cpus(all) : 0;
	free(all);
	/* CPUs that are off now may be switched on later */
	s->n_cpus = smp_live(env) && configured > s->n_cpus ? (int)configured : s->n_cpus;
	for (i = 0; i < n; i++) {
		if (parse_cpu_name(names[i], &s->want[i]) < 0) {
			s->want[i].cpu = MAX_CPUS + 1;
			smp_why(why_each[i], "no such counter");
		} else if (s->want[i].cpu > s->highest) {
			s->highest = s->want[i].cpu;
		}
	}
	/* ten numbers of up to 20 digits a line are possible, 100 bytes are usual */
	s->size = 256 * ((size_t)s->n_cpus + 2);
	s->buf = calloc(1, s->size);
	if (!s->buf || reopen_proc_stat(s) < 0) {
		smp_why(why, "%s",
			s->buf ? smp_why_closed(errno, "/proc/stat cannot be opened: is /proc mounted?") : "no memory");
		close_set(s);
		return NULL;
	}
	return s;
}

/* What a class of so many CPUs' time can grow by: the time, and what the kernel adds late. A CPU without a tick is brought
 * up to date once a second only. Small steps back wait, but what a switched CPU makes is another account of the
 * kernel's. */
static struct smp_physics physics_of_cpus(const struct set *s, int cpus)
{
	uint64_t hz = (uint64_t)hertz(s->env), late = (uint64_t)cpus * hz / 10 + hz;

	return (struct smp_physics){ .fastest = (uint64_t)cpus * hz * 20 / 19,
		.late = s->settling ? 2 * (uint64_t)cpus : late,
		.back = s->settling ? 0 : late };
}

/* The CPUs that are on have a line each (a snapshot's are of no time). One that is switched between the kernel's first line and its own makes the
 * jump of the first one read later. */
static void note_cpus_on(struct set *s, int n)
{
	s->settling -= s->settling > 0;
	if (n != s->n_on && smp_live(s->env)) {
		s->n_on = n;
		s->settling = 2;
	}
}

/* All together are percent of the CPUs that were on at the start: while there are fewer or more, each counts for more or
 * for less, so that the sum of all classes stays 100 percent. */
static void spread_to_cpus(const struct set *s, struct wanted *w, uint64_t before)
{
	uint64_t grown = w->count.sum - before;

	if (s->n_on == s->n_start || !s->n_on) {
		w->shown += grown;
		return;
	}
	grown = grown * (uint64_t)s->n_start + w->left;
	w->shown += grown / (uint64_t)s->n_on;
	w->left = grown % (uint64_t)s->n_on;
}

/* Of two lines for one CPU, the one that has counted more: some containers add a line of zeros. */
static void take_cpu_line(struct set *s, int cpu, const uint64_t v[COLUMNS])
{
	uint64_t whole = 1;
	size_t i;

	for (i = 0; i < COLUMNS; i++) {
		whole += v[i];
	}
	for (i = 0; i < s->n; i++) {
		struct wanted *w = &s->want[i];

		if (w->cpu == cpu && whole > w->whole) {
			w->whole = whole;
			w->raw = v[w->column[0]] + (w->column[1] != w->column[0] ? v[w->column[1]] : 0);
		}
	}
}

/* The kernel writes the lines of CPUs first, in whatever order. Returns how many lines were taken. */
static int take_cpu_lines(struct set *s)
{
	const char *line, *p;
	uint64_t v[COLUMNS];
	int cpu, last = -1, taken = 0, on = 0;
	size_t i;

	for (i = 0; i < s->n; i++) {
		s->want[i].whole = 0;
	}
	for (line = s->buf; line; line = smp_next_line(line)) {
		p = cpu_label(line, &cpu);
		if (!p && taken) {
			break;
		}
		/* a line that was cut is none */
		if (!p || !strchr(p, '\n')) {
			continue;
		}
		on += cpu >= 0 && cpu != last;
		last = cpu;
		if (cpu <= s->highest && columns(p, v) == 0) {
			take_cpu_line(s, cpu, v);
			taken++;
		}
	}
	if (taken) {
		note_cpus_on(s, on);
	}
	return taken;
}

static uint8_t put_cpu_value(struct set *s, struct wanted *w, int64_t now_ms, union smp_value *value)
{
	struct smp_physics can = physics_of_cpus(s, w->cpu < 0 ? s->n_cpus : 1);
	uint64_t before = w->count.sum;
	uint8_t state = SMP_VALID;

	if (!w->count.begun) {
		smp_count_begin(&w->count, w->raw, s->read_ms ? 0 : w->raw, now_ms);
		w->shown = w->count.sum;
	} else {
		state = smp_count_add(&w->count, &can, w->raw, now_ms);
		spread_to_cpus(s, w, before);
	}
	value->u = w->cpu < 0 ? w->shown : w->count.sum;
	return state;
}

static int read_set(void *set, union smp_value *value, uint8_t *state)
{
	struct set *s = set;
	int64_t now = smp_reading_ms(s->env, s->read_ms);
	int valid = 0, again;
	size_t i;

	/* the file of this machine is never replaced */
	if (!smp_live(s->env)) {
		smp_file_there(&s->file);
	}
	for (again = 0; smp_file_read(&s->file, s->buf, s->size) <= 0 || take_cpu_lines(s) == 0; again++) {
		/* not ours any more: the program has closed it */
		smp_file_close(&s->file);
		if (again || reopen_proc_stat(s) < 0) {
			return 0;
		}
	}
	for (i = 0; i < s->n; i++) {
		state[i] = s->want[i].whole ? put_cpu_value(s, &s->want[i], now, &value[i]) : 0;
		valid += state[i] != 0;
	}
	s->read_ms = now;
	return valid;
}

/* Only CPUs that come matter: one that is off has no line in the file, and keeps its counters. */
static uint64_t mark(const struct smp_env *env)
{
	uint64_t sum = 0;
	int root = smp_root(env);
	char *text = root >= 0 ? tkm_root_text(root, "/sys/devices/system/cpu/online") : NULL, *p;

	for (p = text; p && *p; p++) {
		sum = sum * 31 + (unsigned char)*p;
	}
	free(text);
	if (root >= 0) {
		close(root);
	}
	return sum;
}

const struct smp_source smp_cpu = {
	.abi = VTSOURCE_ABI,
	.size = sizeof(struct smp_source),
	.name = "cpu",
	.what = "how the CPUs of the node spend their time",
	.list = list,
	.open = open_set,
	.read = read_set,
	.close = close_set,
	.mark = mark,
};
