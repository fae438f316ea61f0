/* SPDX-License-Identifier: BSD-3-Clause */
/* The examples in C of the guide's section 3.1, word for word but for what they need around them: they compile without a
 * warning, and do what the text beside them says. */
#include <VT.h>
#if VT_VERSION_COMPATIBILITY > 3100
#error ITC API is no longer compatible with our calls
#endif
#include <stdio.h>
#include <stdlib.h>

struct msg {
	int receiver, count, tag, commid;
};

static int funchandle;

static int MySend(struct msg *msg)
{
	int sclhandle;

	VT_sclstack(NULL, NULL, 1, -1, &sclhandle);
	VT_enter(funchandle, sclhandle);
	VT_log_sendmsg(msg->receiver, msg->count, msg->tag, msg->commid, sclhandle);
	VT_leave(sclhandle);
	return sclhandle;
}

static int bsend(void)
{
	static int bsend_handle, bsend_truncated;
	int bsend_retval;

	bsend_retval = VT_enterstate("MPI:TRANSFER:BSEND", &bsend_handle, &bsend_truncated);
	if (!bsend_retval) {
		VT_leave(VT_NOSCL);
	}
	return bsend_retval == 0 && bsend_handle != 0 && bsend_truncated == 0;
}

static int even(int number_procs)
{
	int *IDS = (int *)malloc(sizeof(*IDS) * (size_t)(number_procs / 2 + 1));
	int i, even_group = 0, again = -1;

	for (i = 0; i < number_procs; i += 2) {
		VT_getprocid(i, IDS + i / 2);
	}
	VT_groupdef("Even Group", (number_procs + 1) / 2, IDS, &even_group);
	VT_groupdef("Even Group", (number_procs + 1) / 2, IDS, &again);
	free(IDS);
	return even_group > 0 && again == even_group;
}

int main(int argc, char **argv)
{
	struct msg msg = { 0, 8, 1, VT_COMM_WORLD };
	double t1, t2;
	int classhandle, good;

	VT_initialize(&argc, &argv);
#if VT_VERSION > 4000
	good = VT_version() > 4000;
#else
	good = 0;
#endif
	VT_classdef(":MPI::LIB:", &classhandle);
	VT_funcdef("send", classhandle, &funchandle);
	/* "continue with the sclhandle == VT_NOSCL that VT_sclstack() sets" */
	good = good && MySend(&msg) == VT_NOSCL && bsend() && even(1);
	VT_begin_unordered();
	t1 = VT_timestamp();
	t2 = VT_timestamp();
	VT_log_msgevent(0, 0, 8, 1, VT_COMM_SELF, t1, VT_NOSCL, VT_NOSCL);
	VT_log_msgevent(0, 0, 8, 2, VT_COMM_SELF, t2, VT_NOSCL, VT_NOSCL);
	VT_end_unordered();
	VT_finalize();
	if (!good) {
		puts("an example does not do what its text says");
	}
	return good ? 0 : 1;
}
