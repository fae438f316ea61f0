/* SPDX-License-Identifier: BSD-3-Clause */
/* Does a counter count? The verdict, by loops whose instructions, bytes, packets and faults are known. */
#ifndef SAMPLER_VALIDATE_H
#define SAMPLER_VALIDATE_H

#include "sampler/source.h"

enum smp_verdict {
	SMP_ACCEPT,  /* the loop's own number, within the tolerance */
	SMP_WARN,    /* near it, or not known well enough */
	SMP_REFUSE,  /* something else: do not use it */
	SMP_UNTRIED, /* no loop of known size for it, or the loop did not run here; text says why */
};

struct smp_validation {
	enum smp_verdict verdict;
	double measured, expected; /* per unit of the loop's work; both 0 where there is no number */
	char text[SMP_TEXT];       /* one line: against what, and what to do */
};

/* Tries one counter that can be opened, on this process and thread. Takes up to half a second. */
void smp_validate(const struct smp_planned *p, struct smp_validation *v);

#endif
