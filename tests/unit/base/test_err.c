/* SPDX-License-Identifier: BSD-3-Clause */
/* An error names its cause, and commands no terminal. */
#include "config.h"
#include "base/err.h"
#include "tests/lib/check.h"

#include <errno.h>

static void names_in_errors_command_no_terminal(void)
{
	struct tkm_err e;
	char text[] = "a\n\33[1m\x7f \xc2\x9b n\xc3\xb6 \xc2\xb5\xc2";

	CHECK_STR(tkm_plain(text), "a??[1m? ?? n\xc3\xb6 \xc2\xb5\xc2");
	tkm_fail(&e, TKM_ERR_IO, "%s", "x\33y");
	CHECK_STR(e.text, "x?y");
	tkm_fail_errno(&e, TKM_ERR_IO, ENOENT, "%s", "x\33y");
	CHECK(!strncmp(e.text, "x?y: ", 5), "%s", e.text);
}

static void errors_name_the_cause(void)
{
	struct tkm_err e = { 0 };
	char big[2000];

	CHECK_INT(tkm_fail_errno(&e, TKM_ERR_IO, ENOSPC, "write %s", "x.stf"), -1);
	CHECK_STR(e.text, "write x.stf: No space left on device");
	CHECK_INT(e.code, TKM_ERR_IO);
	memset(big, 'a', sizeof(big) - 1);
	big[sizeof(big) - 1] = 0;
	tkm_fail_errno(&e, TKM_ERR_IO, ENOSPC, "%s", big);
	CHECK_INT(strlen(e.text), sizeof(e.text) - 1);
	CHECK_INT(tkm_fail(NULL, TKM_ERR_ARG, "%s", "nobody listens"), -1);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	RUN(names_in_errors_command_no_terminal);
	RUN(errors_name_the_cause);
	return check_end();
}
