/* SPDX-License-Identifier: BSD-3-Clause */
/* Decides what a reading of a count means (count.h). */
#include "config.h"
#include "sampler/count.h"

#include "include/vtsource.h"

/* Whatever is counted, a node does not do more of it per second. */
static const uint64_t fastest_of_all = UINT64_C(10000000000000);

/* Counts of 32 bits turn at their end: then what is left to it is as little as this, or as the count usually grows. */
enum { NEAR_THE_END = 1 << 24, NEEDED = 3 };

static int is_plausible(const struct smp_physics *p, uint64_t grown, int64_t elapsed_ms)
{
	uint64_t fastest = p->fastest ? p->fastest : fastest_of_all, late = p->late ? p->late : 2 * fastest;
	unsigned __int128 ms = elapsed_ms > 0 ? (unsigned __int128)elapsed_ms : 0;

	return grown <= late || grown <= ms * fastest / 1000 + late;
}

/* By how much has a count grown that was `from` and is `raw`? Returns 1, or 0 if it cannot have. */
static int count_goes_on(const struct smp_physics *p, uint64_t from, uint64_t raw, int64_t elapsed_ms, uint64_t *grown)
{
	*grown = raw - from; /* also beyond the end of 64 bits */
	if (raw < from && p->turn && from <= p->turn) {
		*grown += p->turn;
	} else if (raw < from && from <= INT64_MAX) {
		return 0;
	}
	return is_plausible(p, *grown, elapsed_ms);
}

static int turns_at_32_bits(
	const struct smp_count *c, const struct smp_physics *p, uint64_t raw, int64_t elapsed_ms, uint64_t *grown)
{
	if (p->turn || c->raw > UINT32_MAX || raw >= c->raw) {
		return 0;
	}
	*grown = raw + (UINT64_C(1) << 32) - c->raw;
	return (*grown <= NEAR_THE_END || *grown / 2 <= c->most) && is_plausible(p, *grown, elapsed_ms);
}

static void believe_reading(struct smp_count *c, uint64_t raw, uint64_t grown, int64_t now_ms)
{
	c->sum += grown;
	c->most = grown > c->most ? grown : c->most;
	c->raw = raw;
	c->at_ms = now_ms;
	c->doubts = 0;
}

static void keep_former(struct smp_count *c)
{
	c->former = c->raw;
	c->former_sum = c->sum;
	c->former_ms = c->at_ms;
	c->has_former = 1;
}

/* After a few readings of a small count the one of before is back: it had not begun anew. */
static int is_former_back(const struct smp_count *c, const struct smp_physics *p, uint64_t raw, int64_t now_ms)
{
	uint64_t grown;

	return c->has_former && raw / 4 > c->raw && raw >= c->former &&
		count_goes_on(p, c->former, raw, now_ms - c->former_ms, &grown);
}

/* A reading that contradicts the count. */
static uint8_t doubt_reading(struct smp_count *c, const struct smp_physics *p, uint64_t raw, int64_t now_ms)
{
	if (!c->doubts || raw < c->doubt || !is_plausible(p, raw - c->doubt, now_ms - c->doubt_ms)) {
		c->doubts = 1;
		c->moved = 0;
		c->doubt_first = raw;
	} else {
		c->doubts += c->doubts < NEEDED;
		c->moved |= raw > c->doubt;
	}
	c->doubt = raw;
	c->doubt_ms = now_ms;
	if (c->doubts < NEEDED || !c->moved) {
		return SMP_VALID | (c->doubts == 1 ? SMP_LEFT_OUT : 0);
	}
	keep_former(c);
	believe_reading(c, raw, raw - c->doubt_first, now_ms);
	return SMP_VALID | SMP_RESTARTED;
}

uint8_t smp_count_add(struct smp_count *c, const struct smp_physics *p, uint64_t raw, int64_t now_ms)
{
	int64_t elapsed_ms = now_ms - c->at_ms;
	uint64_t grown, sum;
	int goes_on;

	if (is_former_back(c, p, raw, now_ms)) {
		sum = c->former_sum + (raw - c->former);
		believe_reading(c, raw, sum > c->sum ? sum - c->sum : 0, now_ms);
		c->has_former = 0;
		return SMP_VALID | SMP_LEFT_OUT;
	}
	goes_on = count_goes_on(p, c->raw, raw, elapsed_ms, &grown);
	/* what has jumped stays in doubt, although with the time the jump seems smaller */
	if (c->doubts && c->doubt_first > c->raw && raw >= c->doubt) {
		goes_on = 0;
	} else if (!goes_on) {
		goes_on = turns_at_32_bits(c, p, raw, elapsed_ms, &grown);
	}
	if (goes_on) {
		if (raw < c->raw) {
			keep_former(c);
		}
		believe_reading(c, raw, grown, now_ms);
		return SMP_VALID;
	}
	return raw < c->raw && c->raw - raw <= p->back ? SMP_VALID : doubt_reading(c, p, raw, now_ms);
}
