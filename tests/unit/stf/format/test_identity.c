/* SPDX-License-Identifier: BSD-3-Clause */
/* The identity of a component, in the order of its bytes. */
#include "config.h"
#include "stf/format/identity.h"
#include "tests/lib/check.h"
#include "tests/lib/stf_dir.h"

static void identities_of_another_byte_order_are_none(void)
{
	const struct stf_trace_identity one = { 1, 2, 1e-9, 3, 1 };
	uint8_t p[STX_IDENTITY_SIZE];
	struct stf_trace_identity i;
	int big;

	for (big = 0; big < 2; big++) {
		stf_identity_put(p, &one, big);
		CHECK(stf_identity_get(&i, p, big) == 0 && stf_identity_same(&i, &one) && i.resolution == 1e-9 &&
				i.eventbits == 3 && i.checksums == 1,
			"another identity came back");
		CHECK_INT(stf_identity_get(&i, p, !big), -1);
		p[0]++;
		CHECK_INT(stf_identity_get(&i, p, big), -1);
	}
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	make_dir();
	RUN(identities_of_another_byte_order_are_none);
	clean();
	rmdir(dir);
	return check_end();
}
