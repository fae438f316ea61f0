/* SPDX-License-Identifier: BSD-3-Clause */
/* Bells for the processes of one node: who has nothing to do until a message comes sleeps, and who sends it wakes
 * him. Without one a sleeper has to look now and then: every look of many takes cores from the two that talk, and
 * the message waits for the next. A bell says nothing by itself, it only ends a sleep early. */
#ifndef CALIB_BELL_H
#define CALIB_BELL_H

#include <stddef.h>
#include <stdint.h>

struct cal_bells;

/* Where the others find the memory that one of them has made; sent to them as it is. */
struct cal_bells_ticket {
	int64_t pid, fd; /* fd < 0: there is none */
	uint64_t magic[2];
};

/* Bells 0 to bells - 1, of which this process listens to `mine`, and that many bytes of room beside them for whatever else the
 * processes share. NULL where they cannot be had: then everybody has to look. The ticket is filled in either way; it is good
 * until cal_bells_all_here(). */
struct cal_bells *cal_bells_make(int bells, int mine, size_t room, struct cal_bells_ticket *ticket);

/* The same for a process that was sent a ticket. NULL where it cannot get at the memory (another container). */
struct cal_bells *cal_bells_join(const struct cal_bells_ticket *ticket, int bells, int mine, size_t room);

/* Everybody has joined or never will. b may be NULL, here and in all that follows. */
void cal_bells_all_here(struct cal_bells *b);
void cal_bells_close(struct cal_bells *b);

/* The room, zero at the beginning and on a boundary of cache lines; NULL where there is no memory in common. */
void *cal_bells_room(struct cal_bells *b);

/* Does that process ring when it sends: is it one of those that share the memory? */
int cal_bell_is_rung_by(const struct cal_bells *b, int other);

/* From here on others ring. What it returns goes to cal_bell_sleep(), after another look for what is waited for. */
uint32_t cal_bell_listen(struct cal_bells *b);
void cal_bell_sleep(struct cal_bells *b, uint32_t heard, long ns);
void cal_bell_wake_up(struct cal_bells *b);

/* After the message has been sent. */
void cal_bell_ring(struct cal_bells *b, int other);

#endif
