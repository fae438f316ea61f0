/* SPDX-License-Identifier: BSD-3-Clause */
/* The replacements for libc's functions for files (system.h). Each calls the function that the program would have
 * called. They are in libVT and in libVTsystem.so, which libVTcs.so loads if a rule needs them. This file calls only
 * those functions, vt_system_own, and functions of libc that cannot fail. */
#include "config.h"
#include "collector-plugin/trace/system_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>

enum function {
#define SYSTEM(symbol, ...) F_##symbol,
#define NOTHING(symbol, ...) F_##symbol,
#define PRINTS(symbol, ...) F_##symbol,
#define OPENS(symbol, ...) F_##symbol,
#include "collector-plugin/trace/system_calls.def"
#undef SYSTEM
#undef NOTHING
#undef PRINTS
#undef OPENS
	FUNCTIONS
};

static const struct vt_system_own *own;
static void *next[FUNCTIONS];

static inline uint64_t sum_iovec(const struct iovec *v, int n)
{
	uint64_t bytes = 0;
	int i;

	for (i = 0; i < n; i++) {
		bytes += v[i].iov_len;
	}
	return bytes;
}

/* An address just below the program's stack pointer when it called us: a jump to there leaves the call. */
#if defined(__x86_64__)
#define STACK() ((uintptr_t)__builtin_dwarf_cfa() - 1)
#else
#define STACK() ((uintptr_t)__builtin_frame_address(0) + 2 * sizeof(void *) - 1)
#endif
#define MOVES(kind, fd, bytes) \
	if (k.on) { \
		own->moves(&k, VT_RAW_##kind, fd, bytes); \
	}
#define MOVED(bytes) \
	if (k.on) { \
		own->moved(&k, bytes); \
	}
#define NEW(fd) own->forget(fd);
#define AFTER(after) \
	k.error = errno; \
	after; \
	own->leave(&k)

#define SYSTEM(symbol, text, result, params, args, before, after) \
	static result system_##symbol params \
	{ \
		struct vt_system_call k = { 0 }; \
		result rc; \
		own->enter(&k, F_##symbol, STACK()); \
		before; \
		errno = k.error; \
		rc = ((result(*) params)next[F_##symbol])args; \
		AFTER(after); \
		return rc; \
	}
#define NOTHING(symbol, text, params, args) \
	static void system_##symbol params \
	{ \
		struct vt_system_call k = { 0 }; \
		own->enter(&k, F_##symbol, STACK()); \
		((void(*) params)next[F_##symbol]) args; \
		AFTER(); \
	}
/* The function that is called takes a va_list; start() finds it. */
#define PRINTS(symbol, text, params, result, with_list, last, list_params, args, before, after) \
	static result system_##symbol params \
	{ \
		struct vt_system_call k = { 0 }; \
		result rc; \
		va_list a; \
		own->enter(&k, F_##symbol, STACK()); \
		before; \
		errno = k.error; \
		va_start(a, last); \
		rc = ((result(*) list_params)next[F_##symbol])args; \
		va_end(a); \
		AFTER(after); \
		return rc; \
	}
#define OPENS(symbol, text, params, next_params, args) \
	static int system_##symbol params \
	{ \
		struct vt_system_call k = { 0 }; \
		mode_t mode = 0; \
		va_list a; \
		int rc; \
		if (flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE) { \
			va_start(a, flags); \
			mode = va_arg(a, mode_t); \
			va_end(a); \
		} \
		own->enter(&k, F_##symbol, STACK()); \
		rc = ((int(*) next_params)next[F_##symbol])args; \
		AFTER(NEW(rc)); \
		return rc; \
	}
#include "collector-plugin/trace/system_calls.def"
#undef SYSTEM
#undef NOTHING
#undef PRINTS
#undef OPENS

/* For each function: its name, its replacement, and the real function, which system.c fills in. */
static const struct vt_system_function functions[FUNCTIONS] = {
#define SYSTEM(symbol, ...) { #symbol, #symbol, (void *)system_##symbol },
#define NOTHING(symbol, ...) { #symbol, #symbol, (void *)system_##symbol },
#define PRINTS(symbol, text, params, result, with_list, ...) { #symbol, #with_list, (void *)system_##symbol },
#define OPENS(symbol, ...) { #symbol, #symbol, (void *)system_##symbol },
#include "collector-plugin/trace/system_calls.def"
};

const struct vt_system_table *vt_system_begin(const struct vt_system_own *calls)
{
	static const struct vt_system_table table = {
		.version = PACKAGE_STRING, .n = FUNCTIONS, .function = functions, .next = next
	};

	own = calls;
	return &table;
}
