/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages over shared cache lines; see calib/session/line.h. */
#include "config.h"
#include "calib/session/line.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* The line from one process to another; only the first one writes it. The upper bits of each count are the epoch, so
 * that a late message is not taken for another one. */
struct line {
	_Alignas(64) _Atomic uint64_t pings;
	_Atomic uint64_t words;
	_Atomic int64_t word;
	_Atomic int together;
};

/* Of one process, for the process that it exchanges messages with. An odd version: it is being written. */
struct outbox {
	_Alignas(64) _Atomic uint64_t version;
	unsigned char data[CAL_LINE_MOST];
};

/* What has been sent to a process and received from it in this epoch. */
struct counts {
	uint64_t epoch;
	uint64_t pings_out, pings_in, words_out, words_in;
};

struct cal_lines {
	struct outbox *outbox;
	struct line *line; /* [to * processes + from] */
	int processes, mine;
	struct counts of[];
};

size_t cal_lines_size(int processes)
{
	size_t n = (size_t)processes;

	return n * sizeof(struct outbox) + n * n * sizeof(struct line);
}

struct cal_lines *cal_lines_open(void *room, int processes, int mine)
{
	struct cal_lines *l = calloc(1, sizeof(*l) + (size_t)processes * sizeof(l->of[0]));

	if (l) {
		l->outbox = room;
		l->line = (struct line *)(void *)(l->outbox + processes);
		l->processes = processes;
		l->mine = mine;
	}
	return l;
}

void cal_lines_close(struct cal_lines *l)
{
	free(l);
}

static struct line *line_to(const struct cal_lines *l, int to)
{
	return &l->line[(size_t)to * (size_t)l->processes + (size_t)l->mine];
}

static struct line *line_from(const struct cal_lines *l, int from)
{
	return &l->line[(size_t)l->mine * (size_t)l->processes + (size_t)from];
}

void cal_lines_begin(struct cal_lines *l, int other, unsigned epoch)
{
	/* never 0, since new memory is 0 */
	uint64_t e = ((uint64_t)epoch | 1ull << 31) << 32;

	if (l->of[other].epoch != e) {
		l->of[other] = (struct counts){ .epoch = e };
	}
}

/* Tests whether the count is one of this epoch, and at least n. */
static int reached(uint64_t count, uint64_t epoch, uint64_t n)
{
	return count >= epoch + n && count - epoch < 1ull << 32;
}

void cal_line_ping(struct cal_lines *l, int to)
{
	struct counts *c = &l->of[to];

	atomic_store_explicit(&line_to(l, to)->pings, c->epoch + ++c->pings_out, memory_order_release);
}

int cal_line_pinged(struct cal_lines *l, int from)
{
	struct counts *c = &l->of[from];

	if (!reached(atomic_load_explicit(&line_from(l, from)->pings, memory_order_acquire), c->epoch,
		    c->pings_in + 1)) {
		return 0;
	}
	c->pings_in++;
	return 1;
}

void cal_line_word(struct cal_lines *l, int to, int64_t word)
{
	struct counts *c = &l->of[to];
	struct line *line = line_to(l, to);

	atomic_store_explicit(&line->word, word, memory_order_relaxed);
	atomic_store_explicit(&line->words, c->epoch + ++c->words_out, memory_order_release);
}

int cal_line_take_word(struct cal_lines *l, int from, int64_t *word)
{
	struct line *line = line_from(l, from);
	struct counts *c = &l->of[from];

	if (!reached(atomic_load_explicit(&line->words, memory_order_acquire), c->epoch, c->words_in + 1)) {
		return 0;
	}
	*word = atomic_load_explicit(&line->word, memory_order_acquire);
	c->words_in++;
	return atomic_load_explicit(&line->words, memory_order_relaxed) == c->epoch + c->words_in ? 1 : -1;
}

void cal_line_letter(struct cal_lines *l, int to, const void *data, size_t size)
{
	struct outbox *box = &l->outbox[l->mine];
	uint64_t version = atomic_load_explicit(&box->version, memory_order_relaxed);

	atomic_store_explicit(&box->version, version + 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	memcpy(box->data, data, size);
	atomic_store_explicit(&box->version, version + 2, memory_order_release);
	cal_line_word(l, to, (int64_t)(version + 2));
}

int cal_line_take_letter(struct cal_lines *l, int from, void *data, size_t size)
{
	const struct outbox *box = &l->outbox[from];
	int64_t version = 0;
	int rc = cal_line_take_word(l, from, &version);

	if (rc <= 0) {
		return rc;
	}
	memcpy(data, box->data, size);
	/* a process that was given up may be so late that it reads a message for another one */
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(&box->version, memory_order_relaxed) == (uint64_t)version ? 1 : -1;
}

void cal_line_set_together(struct cal_lines *l, int other, int together)
{
	atomic_store_explicit(&line_to(l, other)->together, together, memory_order_relaxed);
}

int cal_line_are_together(const struct cal_lines *l, int other)
{
	return atomic_load_explicit(&line_from(l, other)->together, memory_order_relaxed);
}
