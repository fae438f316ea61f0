/* SPDX-License-Identifier: BSD-3-Clause */
/* A table of wakeup slots, one for each process of a node. A process that waits for a message sleeps, and the sender wakes it.
 * Without the table a waiting process must check regularly: many such checks take cores from the two that exchange messages, and
 * the message waits for the next check. A wakeup carries no information: it only ends a sleep early. */
#ifndef CALIB_WAKEUP_H
#define CALIB_WAKEUP_H

#include <stddef.h>
#include <stdint.h>

struct cal_wakeup;

/* Where the others find the memory that one of them has made; sent to them as it is. */
struct cal_wakeup_ticket {
	int64_t pid, fd; /* fd < 0: there is none */
	uint64_t magic[2];
};

/* A table of `slots` slots; this process sleeps in slot `mine`. After it lie `shared` bytes for whatever else the processes share.
 * NULL where no shared memory can be made: then every process must check regularly. The ticket is filled in either way; it is valid
 * until cal_wakeup_all_joined(). */
struct cal_wakeup *cal_wakeup_make(int slots, int mine, size_t shared, struct cal_wakeup_ticket *ticket);

/* The same for a process that was sent a ticket. NULL where it cannot get at the memory (another container). */
struct cal_wakeup *cal_wakeup_join(const struct cal_wakeup_ticket *ticket, int slots, int mine, size_t shared);

/* All processes have joined or never will. b may be NULL, here and in all that follows. */
void cal_wakeup_all_joined(struct cal_wakeup *b);
void cal_wakeup_close(struct cal_wakeup *b);

/* The shared bytes, zero at the beginning and on a boundary of cache lines; NULL where there is no memory in common. */
void *cal_wakeup_shared(struct cal_wakeup *b);

/* Does that process signal when it sends: is it one of those that share the memory? */
int cal_wakeup_is_from(const struct cal_wakeup *b, int other);

/* From here on others signal. Its result goes to cal_wakeup_sleep(), after another check for what is waited for. */
uint32_t cal_wakeup_prepare(struct cal_wakeup *b);
void cal_wakeup_sleep(struct cal_wakeup *b, uint32_t seen, long ns);
void cal_wakeup_end(struct cal_wakeup *b);

/* After the message has been sent. */
void cal_wakeup_signal(struct cal_wakeup *b, int other);

#endif
