/* SPDX-License-Identifier: BSD-3-Clause */
/* --hosts and --join: another program, so that each start of this one need not load what speaks over the network. */
#include "config.h"
#include "calib/timertest/timertest.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "collector-plugin/host/program/near.h"

struct cal_link *cal_test_become_tcp(struct cal_test *t, int argc, char **argv, struct tkm_err *err)
{
	static const char *const places[] = { "/timertest-tcp", "/../timertest-tcp",
		"/../libexec/tickmark/timertest-tcp", NULL };
	char path[PATH_MAX], own[PATH_MAX];

	(void)t;
	(void)argc;
	if (vt_find_installed_program(
		    vt_own_program(own, sizeof(own)), places, VT_LIBEXECDIR "/timertest-tcp", path, sizeof(path)) < 0) {
		tkm_fail(err, TKM_ERR_UNAVAIL, "--hosts and --join need the program %s, which is not there",
			VT_LIBEXECDIR "/timertest-tcp");
		return NULL;
	}
	/* --hosts starts this program on the other nodes, which may have the other one elsewhere */
	setenv(CAL_TEST_PROGRAM, own, 1);
	execv(path, argv);
	tkm_fail_errno(err, TKM_ERR_UNAVAIL, errno, "cannot run %s", path);
	return NULL;
}
