/* SPDX-License-Identifier: BSD-3-Clause */
/* From the times of a trace to those of a run that is played. */
#include "config.h"
#include "tools/convert/moves.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/grow.h"

enum { MOST_OPEN = 4 << 20, LEAST_ROOM = 64, MOST_ROOM = 1 << 14 }; /* pairs of all threads, and of one, in memory */

int stt_moves_begin(struct stt_moves *m, const struct stt_trace *t, const struct stt_options *o)
{
	const char *where = getenv("TMPDIR");
	char path[500];

	*m = (struct stt_moves){ .t = t, .fd = -1 };
	m->n_threads = t->first[t->n_processes];
	m->room = m->n_threads ? (size_t)(MOST_OPEN / m->n_threads) : MOST_ROOM;
	m->room = m->room < LEAST_ROOM ? LEAST_ROOM : m->room > MOST_ROOM ? MOST_ROOM : m->room;
	m->thread = calloc((size_t)m->n_threads + 1, sizeof(*m->thread));
	if (!m->thread) {
		stt_fault(o, "out of memory");
		return -1;
	}
	snprintf(path, sizeof(path), "%.400s/stftool-XXXXXX", where && *where ? where : "/tmp");
	m->fd = mkstemp(path);
	if (m->fd < 0) {
		stt_fault(o, "%s: cannot make a temporary file: %s ($TMPDIR names another folder)", path,
			strerror(errno));
		return -1;
	}
	unlink(path);
	return 0;
}

static int write_moves(struct stt_moves *m, struct stt_thread_moves *h)
{
	const char *p = (const char *)h->open;
	size_t left = h->n_open * sizeof(*h->open);
	struct stt_move_block *b = TKM_APPEND(h->block, h->n_blocks);
	ssize_t n;

	if (!b) {
		m->error = ENOMEM;
		return -1;
	}
	*b = (struct stt_move_block){ h->open[0].time, m->written, h->n_open };
	m->written += h->n_open;
	h->n_open = 0;
	for (; left; p += n, left -= (size_t)n) {
		n = write(m->fd, p, left);
		if (n < 0 && errno == EINTR) {
			n = 0;
		} else if (n <= 0) {
			m->error = n < 0 ? errno : ENOSPC;
			return -1;
		}
	}
	return 0;
}

int stt_moves_add(void *moves, uint32_t willy, uint64_t time, uint64_t played)
{
	struct stt_moves *m = moves;
	long long i = stt_thread_number(m->t, willy);
	struct stt_thread_moves *h = i < 0 ? NULL : &m->thread[i];

	if (!h) {
		return 0;
	}
	if (!h->open && !(h->open = malloc(m->room * sizeof(*h->open)))) {
		m->error = ENOMEM;
		return -1;
	}
	h->latest = played > h->latest ? played : h->latest;
	if (h->n_open && h->open[h->n_open - 1].time == time) {
		h->open[h->n_open - 1].played = h->latest;
		return 0;
	}
	if (h->n_open == m->room && write_moves(m, h) < 0) {
		return -1;
	}
	h->open[h->n_open++] = (struct stt_move){ time, h->latest };
	return 0;
}

int stt_moves_complete(struct stt_moves *m, const struct stt_options *o)
{
	void *all;
	uint64_t i;

	for (i = 0; i < m->n_threads && !m->error; i++) {
		if (m->thread[i].n_open) {
			write_moves(m, &m->thread[i]);
		}
		free(m->thread[i].open);
		m->thread[i].open = NULL;
	}
	if (!m->error && m->written) {
		all = mmap(NULL, (size_t)m->written * sizeof(*m->all), PROT_READ, MAP_SHARED, m->fd, 0);
		m->error = all == MAP_FAILED ? errno : 0;
		m->all = m->error ? NULL : all;
	}
	if (m->error) {
		stt_fault(o, "cannot keep the times of the run in a temporary file: %s ($TMPDIR names another folder)",
			strerror(m->error));
	}
	return m->error ? -1 : 0;
}

/* The block that has the last pair not after `time`; else the first one. */
static const struct stt_move_block *block_of_stamp(struct stt_thread_moves *h, uint64_t time)
{
	size_t low = 0, high = h->n_blocks;

	if (h->block[h->at].first <= time && (h->at + 1 == h->n_blocks || time < h->block[h->at + 1].first)) {
		return &h->block[h->at];
	}
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		*(h->block[middle].first <= time ? &low : &high) = middle;
	}
	h->at = low;
	return &h->block[low];
}

static uint64_t stamp_between(const struct stt_move *a, const struct stt_move *b, uint64_t time, enum stt_move_as as)
{
	double part = (double)(time - a->time) / (double)(b->time - a->time);

	if (time == a->time || (as == STT_MOVE_SENT && b->played - a->played != b->time - a->time)) {
		return a->played;
	}
	if (as == STT_MOVE_RECEIVED && b->played - a->played != b->time - a->time) {
		return b->played;
	}
	return a->played + (uint64_t)(part * (double)(b->played - a->played) + 0.5);
}

/* The pairs before and after the stamp; before and after all of them time passes as in the trace. */
static uint64_t move_with_thread(
	const struct stt_moves *m, struct stt_thread_moves *h, uint64_t time, enum stt_move_as as)
{
	const struct stt_move_block *b = block_of_stamp(h, time);
	const struct stt_move *all = m->all + b->number;
	size_t low = 0, high = (size_t)b->n;

	if (time < all[0].time) {
		return all[0].time - time < all[0].played ? all[0].played - (all[0].time - time) : 0;
	}
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		*(all[middle].time <= time ? &low : &high) = middle;
	}
	if (low + 1 < b->n) {
		return stamp_between(&all[low], &all[low + 1], time, as);
	}
	if (b + 1 < h->block + h->n_blocks) {
		return stamp_between(&all[low], m->all + b[1].number, time, as);
	}
	return all[low].played + (time - all[low].time);
}

uint64_t stt_move_stamp(struct stt_moves *m, uint32_t willy, uint64_t time, enum stt_move_as as)
{
	long long i = stf_willy_is_group(willy) ? -1 : stt_thread_number(m->t, willy);
	uint32_t process = i < 0 ? 0 : stf_willy_process(willy);

	if ((i < 0 || !m->thread[i].n_blocks) && process < m->t->n_processes) {
		i = (long long)m->t->first[process];
	}
	return i >= 0 && (uint64_t)i < m->n_threads && m->thread[i].n_blocks
		? move_with_thread(m, &m->thread[i], time, as)
		: time;
}

void stt_moves_free(struct stt_moves *m)
{
	uint64_t i;

	for (i = 0; m->thread && i < m->n_threads; i++) {
		free(m->thread[i].open);
		free(m->thread[i].block);
	}
	free(m->thread);
	if (m->all) {
		munmap((void *)(uintptr_t)m->all, (size_t)m->written * sizeof(*m->all));
	}
	if (m->fd >= 0) {
		close(m->fd);
	}
}
