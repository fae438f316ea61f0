/* SPDX-License-Identifier: BSD-3-Clause */
/* One rule of option COUNTER. */
#ifndef SAMPLER_RULES_H
#define SAMPLER_RULES_H

#include "base/err.h"
#include "include/vtsource.h"

struct smp_rule {
	char pattern[SMP_TEXT];
	int on;
};

/* Reads "<pattern> [on|off]". Returns 0, or -1 with err. */
int smp_rule_parse(const char *text, struct smp_rule *r, struct tkm_err *err);

#endif
