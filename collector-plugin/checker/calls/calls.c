/* SPDX-License-Identifier: BSD-3-Clause */
/* The wrappers of libVTmc in C: a second use of the table mpi/calls.def. Unlike those of libVT they may leave a call out. */
#include "config.h"
#include "collector-plugin/checker/checker.h"

#include "collector-plugin/mpi/abi/version.h"

/* The arguments as machine words: any of them is a pointer or an integer. */
#define WORD(x) ((uintptr_t)(x))
/* A call without arguments has one word, 0. */
#define EMPTY_ none, 0
#define SECOND(a, b, ...) b
#define SECOND_OF(...) SECOND(__VA_ARGS__, )
#define W1(a) SECOND_OF(EMPTY_##a, WORD(a))
#define W2(a, ...) WORD(a), W1(__VA_ARGS__)
#define W3(a, ...) WORD(a), W2(__VA_ARGS__)
#define W4(a, ...) WORD(a), W3(__VA_ARGS__)
#define W5(a, ...) WORD(a), W4(__VA_ARGS__)
#define W6(a, ...) WORD(a), W5(__VA_ARGS__)
#define W7(a, ...) WORD(a), W6(__VA_ARGS__)
#define W8(a, ...) WORD(a), W7(__VA_ARGS__)
#define W9(a, ...) WORD(a), W8(__VA_ARGS__)
#define W10(a, ...) WORD(a), W9(__VA_ARGS__)
#define W11(a, ...) WORD(a), W10(__VA_ARGS__)
#define W12(a, ...) WORD(a), W11(__VA_ARGS__)
#define W13(a, ...) WORD(a), W12(__VA_ARGS__)
#define NUMBER(a, b, c, d, e, f, g, h, i, j, k, l, m, w, ...) w
#define WORDS(...) NUMBER(__VA_ARGS__, W13, W12, W11, W10, W9, W8, W7, W6, W5, W4, W3, W2, W1, )(__VA_ARGS__)

#define WRAPPER(kind, name, lower, UPPER, parameters, args, ...) \
	int MPI_##name parameters \
	{ \
		static struct vt_mc_function f = { .text = "MPI_" #name, \
			.length = sizeof("MPI_" #name) - 1, \
			.params = #parameters, \
			.more = #__VA_ARGS__, \
			.sort = kind }; \
		uintptr_t w[] = { WORDS args }; \
		struct vt_mc_call k; \
		memset(&k, 0, offsetof(struct vt_mc_call, few)); \
		k.f = &f; \
		k.w = w; \
		k.pc = __builtin_return_address(0); \
		void *next = vt_mc_next(&f, (void *)PMPI_##name); \
		int rc = vt_mc_before(&k) ? k.rc : ((int(*) parameters)next)args; \
		return vt_mc_after(&k, rc); \
	}

#define BY_HAND(...)
#define CALL(...) WRAPPER(VT_MC_CALL, __VA_ARGS__, 0)
#define OUTSIDE(...) WRAPPER(VT_MC_OUTSIDE, __VA_ARGS__, 0)
#define LOOK(...) WRAPPER(VT_MC_LOOK, __VA_ARGS__, 0)
#define LOOK_SOME(...) WRAPPER(VT_MC_LOOK, __VA_ARGS__, 0)
#define LOCAL(...) WRAPPER(VT_MC_LOCAL, __VA_ARGS__, 0)
#define SET_ERRHANDLER(...) WRAPPER(VT_MC_SET_ERRHANDLER, __VA_ARGS__, 0)
#define CALLBACK(...) WRAPPER(VT_MC_CALLBACK, __VA_ARGS__, 0)
#define CALLBACKS(...) WRAPPER(VT_MC_CALLBACK, __VA_ARGS__, 0)
#define GREQUEST_START(...) WRAPPER(VT_MC_GREQUEST_START, __VA_ARGS__, 0)
#define GREQUEST_COMPLETE(...) WRAPPER(VT_MC_GREQUEST_COMPLETE, __VA_ARGS__, 0)
#define SEND(...) WRAPPER(VT_MC_SEND, __VA_ARGS__, 0)
#define ISEND(...) WRAPPER(VT_MC_ISEND, __VA_ARGS__, 0)
#define SEND_INIT(...) WRAPPER(VT_MC_SEND_INIT, __VA_ARGS__, 0)
#define RECV(...) WRAPPER(VT_MC_RECV, __VA_ARGS__, 0)
#define IRECV(...) WRAPPER(VT_MC_IRECV, __VA_ARGS__, 0)
#define RECV_INIT(...) WRAPPER(VT_MC_RECV_INIT, __VA_ARGS__, 0)
#define SENDRECV(...) WRAPPER(VT_MC_SENDRECV, __VA_ARGS__, 0)
#define SENDRECV_REPLACE(...) WRAPPER(VT_MC_SENDRECV_REPLACE, __VA_ARGS__, 0)
#define ISENDRECV(...) WRAPPER(VT_MC_ISENDRECV, __VA_ARGS__, 0)
#define ISENDRECV_REPLACE(...) WRAPPER(VT_MC_ISENDRECV, __VA_ARGS__, 0)
#define PSEND_INIT(...) WRAPPER(VT_MC_PARTITIONED, __VA_ARGS__, 0)
#define PRECV_INIT(...) WRAPPER(VT_MC_PARTITIONED, __VA_ARGS__, 0)
#define MPROBE(...) WRAPPER(VT_MC_MPROBE, __VA_ARGS__, 0)
#define IMPROBE(...) WRAPPER(VT_MC_IMPROBE, __VA_ARGS__, 0)
#define MRECV(...) WRAPPER(VT_MC_MRECV, __VA_ARGS__, 0)
#define IMRECV(...) WRAPPER(VT_MC_IMRECV, __VA_ARGS__, 0)
#define CANCEL(...) WRAPPER(VT_MC_CANCEL, __VA_ARGS__, 0)
#define REQUEST_FREE(...) WRAPPER(VT_MC_REQUEST_FREE, __VA_ARGS__, 0)
#define START(...) WRAPPER(VT_MC_START, __VA_ARGS__, 0)
#define STARTALL(...) WRAPPER(VT_MC_STARTALL, __VA_ARGS__, 0)
#define WAIT(...) WRAPPER(VT_MC_WAIT, __VA_ARGS__, 0)
#define TEST(...) WRAPPER(VT_MC_TEST, __VA_ARGS__, 0)
#define WAITANY(...) WRAPPER(VT_MC_WAITANY, __VA_ARGS__, 0)
#define TESTANY(...) WRAPPER(VT_MC_TESTANY, __VA_ARGS__, 0)
#define WAITALL(...) WRAPPER(VT_MC_WAITALL, __VA_ARGS__, 0)
#define TESTALL(...) WRAPPER(VT_MC_TESTALL, __VA_ARGS__, 0)
#define WAITSOME(...) WRAPPER(VT_MC_WAITSOME, __VA_ARGS__, 0)
#define TESTSOME(...) WRAPPER(VT_MC_TESTSOME, __VA_ARGS__, 0)
#define COLL(...) WRAPPER(VT_MC_COLL, __VA_ARGS__, 0)
#define COLL_I(...) WRAPPER(VT_MC_COLL_I, __VA_ARGS__, 0)
#define COLL_INIT(...) WRAPPER(VT_MC_COLL_INIT, __VA_ARGS__, 0)
#define NEWCOMM(...) WRAPPER(VT_MC_NEWCOMM, __VA_ARGS__, 0)
#define GROUPCOMM(...) WRAPPER(VT_MC_GROUPCOMM, __VA_ARGS__, 0)
#define JOINED(...) WRAPPER(VT_MC_JOINED, __VA_ARGS__, 0)
#define SPAWN(...) WRAPPER(VT_MC_JOINED, __VA_ARGS__, 0)
#define COMM_FREE(...) WRAPPER(VT_MC_COMM_FREE, __VA_ARGS__, 0)
#define COMM_DISCONNECT(...) WRAPPER(VT_MC_COMM_FREE, __VA_ARGS__, 0)
#define COMM_NAME(...) WRAPPER(VT_MC_COMM_NAME, __VA_ARGS__, 0)
#define IDUP(...) WRAPPER(VT_MC_IDUP, __VA_ARGS__, 0)
#define IDUP_WITH_INFO(...) WRAPPER(VT_MC_IDUP, __VA_ARGS__, 0)
#define IO(...) WRAPPER(VT_MC_IO, __VA_ARGS__, 0)
#define IO_POSTED(...) WRAPPER(VT_MC_IO_POSTED, __VA_ARGS__, 0)
#define IO_BEGUN(...) WRAPPER(VT_MC_IO, __VA_ARGS__, 0)
#define FILE_OPEN(...) WRAPPER(VT_MC_FILE_OPEN, __VA_ARGS__, 0)
#define FILE_CLOSE(...) WRAPPER(VT_MC_FILE_CLOSE, __VA_ARGS__, 0)
#define NEWWIN(...) WRAPPER(VT_MC_NEWWIN, __VA_ARGS__, 0)
#define WIN_FREE(...) WRAPPER(VT_MC_WIN_FREE, __VA_ARGS__, 0)
#define WIN_FENCE(...) WRAPPER(VT_MC_CALL, __VA_ARGS__, 0)
#define WIN_WAIT(...) WRAPPER(VT_MC_CALL, __VA_ARGS__, 0)
#define WIN_POST(...) WRAPPER(VT_MC_CALL, __VA_ARGS__, 0)
#define WIN_START(...) WRAPPER(VT_MC_CALL, __VA_ARGS__, 0)
#define WIN_COMPLETE(...) WRAPPER(VT_MC_CALL, __VA_ARGS__, 0)
#define WIN_LOCK(...) WRAPPER(VT_MC_CALL, __VA_ARGS__, 0)
#define WIN_FLUSH(...) WRAPPER(VT_MC_CALL, __VA_ARGS__, 0)
#define WIN_FLUSH_ALL(...) WRAPPER(VT_MC_CALL, __VA_ARGS__, 0)
#define WIN_UNLOCK(...) WRAPPER(VT_MC_CALL, __VA_ARGS__, 0)
#define WIN_TEST(...) WRAPPER(VT_MC_CALL, __VA_ARGS__, 0)
#define RMA(...) WRAPPER(VT_MC_RMA, __VA_ARGS__, 0)
#define RMA_BOTH(...) WRAPPER(VT_MC_RMA, __VA_ARGS__, 0)
#define RMA_ONE(...) WRAPPER(VT_MC_RMA, __VA_ARGS__, 0)
#define vt_mpi_errhandler(errhandler) (errhandler)

#include "collector-plugin/mpi/calls.def"
#if VT_MPI >= 400
#include "collector-plugin/mpi/calls4.def"
#endif
#if MPI_VERSION >= 4
#include "collector-plugin/mpi/calls_large.def"
#endif
