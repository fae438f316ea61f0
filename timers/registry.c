/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of timers, and opening one by name. */
#include "config.h"
#include "timers/timer_private.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/text/text.h"

#define ADDRESS(name) &tmr_##name,
#define WORD(name) #name,
static const struct tmr_ops *const table[] = { TMR_TIMERS(ADDRESS, ADDRESS) };
static const char *const word[] = { TMR_TIMERS(WORD, WORD) };
#define TABLE_SIZE (sizeof(table) / sizeof(table[0]))

/* Those that only some programs link, and where they are. */
static const struct {
	const char *name, *why;
} elsewhere[] = {
	{ "MPI_Wtime", "this program has no MPI; timertest has it when Tickmark is built with MPI" },
	{ "cuda_globaltimer", "this program reads no GPU; timertest does" },
};

/* Its index in `elsewhere`; the number of entries if it is not there. */
static size_t find_elsewhere(const char *name, size_t len)
{
	size_t i, n = sizeof(elsewhere) / sizeof(elsewhere[0]);

	for (i = 0; i < n && (strlen(elsewhere[i].name) != len || strncasecmp(elsewhere[i].name, name, len)); i++) {
	}
	return i;
}

static const struct tmr_ops *find_timer(const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < TABLE_SIZE; i++) {
		if (table[i] && strlen(table[i]->name) == len && strncasecmp(table[i]->name, name, len) == 0) {
			return table[i];
		}
	}
	return NULL;
}

int tmr_expand_rank(const char *name, int rank, char *out, size_t size, struct tkm_err *err)
{
	size_t n = 0;

	while (*name) {
		int used, modulus = 0, length = 0;

		if (strncmp(name, "{rank}", 6) == 0) {
			used = snprintf(out + n, size - n, "%d", rank);
			name += 6;
		} else if (sscanf(name, "{rank%%%9d}%n", &modulus, &length) == 1 && length > 0 && modulus > 0) {
			used = snprintf(out + n, size - n, "%d", rank % modulus);
			name += length;
		} else {
			used = snprintf(out + n, size - n, "%c", *name++);
		}
		n += (size_t)used;
		if (n >= size) {
			return tkm_fail(err, TKM_ERR_ARG, "timer name is longer than %zu characters", size - 1);
		}
	}
	out[n] = '\0';
	return 0;
}

struct tmr_timer *tmr_open(const char *name, int rank, struct tkm_err *err)
{
	char expanded[sizeof(((struct tmr_timer *)0)->name)];
	const struct tmr_ops *ops;
	size_t len, i;

	if (tmr_expand_rank(name, rank, expanded, sizeof(expanded), err) < 0) {
		return NULL;
	}
	len = strcspn(expanded, ":");
	ops = find_timer(expanded, len);
	if (!ops) {
		i = find_elsewhere(expanded, len);
		if (i < sizeof(elsewhere) / sizeof(elsewhere[0])) {
			tkm_fail(err, TKM_ERR_UNAVAIL, "timer %s: %s", elsewhere[i].name, elsewhere[i].why);
		} else {
			tkm_fail(err, TKM_ERR_ARG, "unknown timer '%s'; VT_TIMER=LIST shows all", expanded);
		}
		return NULL;
	}
	return tmr_open_kind(ops, expanded, err);
}

void tmr_list(FILE *out)
{
	char period[32], name[64];
	struct tkm_err err;
	struct tmr_timer *t;
	size_t i, k;

	fprintf(out, "%-24s %-10s %-8s %s\n", "timer", "period", "scope", "what it is, or why it is not available");
	for (i = 0; i < TABLE_SIZE; i++) {
		const struct tmr_ops *ops = table[i];

		if (!ops) {
			k = find_elsewhere(word[i], strlen(word[i]));
			fprintf(out, "%-24s %-10s %-8s unavailable: %s\n", elsewhere[k].name, "-", "-",
				elsewhere[k].why);
			continue;
		}
		snprintf(name, sizeof(name), "%s%s%s", ops->name, ops->arg ? ":" : "", ops->arg ? ops->arg : "");
		t = tmr_open(ops->name, 0, &err);
		if (!t) {
			fprintf(out, "%-24s %-10s %-8s unavailable: %s\n", name, "-", tmr_scope_name(ops->scope),
				err.text);
			continue;
		}
		fprintf(out, "%-24s %-10s %-8s %s", name,
			t->hz > 0 ? tkm_print_time(period, sizeof(period), 1 / t->hz, 3) : "unknown",
			tmr_scope_name(t->scope), ops->what);
		if (t->hz_from) {
			fprintf(out, "; %.3f MHz by %s", t->hz * 1e-6, t->hz_from);
		}
		putc('\n', out);
		tmr_close(t);
	}
}

void tmr_each_available(void (*fn)(const char *name, void *ctx), void *ctx)
{
	size_t i;

	for (i = 0; i < TABLE_SIZE; i++) {
		struct tmr_timer *t = table[i] ? tmr_open(table[i]->name, 0, NULL) : NULL;

		if (t) {
			fn(table[i]->name, ctx);
			tmr_close(t);
		}
	}
}
