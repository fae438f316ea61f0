/* SPDX-License-Identifier: BSD-3-Clause */
/* The call-backs that OTF2 requires from a writer of a trace: to write out full buffers, and the time after that. */
#ifndef TESTS_BENCH_BENCH_OTF2_H
#define TESTS_BENCH_BENCH_OTF2_H

#include <otf2/otf2.h>

static inline OTF2_FlushType before_flush(
	void *user, OTF2_FileType type, OTF2_LocationRef loc, void *caller, bool final)
{
	(void)user;
	(void)type;
	(void)loc;
	(void)caller;
	(void) final;
	return OTF2_FLUSH;
}

static inline OTF2_TimeStamp after_flush(void *user, OTF2_FileType type, OTF2_LocationRef loc)
{
	(void)user;
	(void)type;
	(void)loc;
	return 0;
}

#endif
