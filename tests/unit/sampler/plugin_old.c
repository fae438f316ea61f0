/* SPDX-License-Identifier: BSD-3-Clause */
/* A plugin of another version of the interface that serves whoever asks. */
#include <tickmark/vtsource.h>

static const struct smp_source source = { .abi = 77, .size = sizeof(struct smp_source), .name = "old" };

const struct smp_source *vtsource_plugin(uint32_t abi)
{
	(void)abi;
	return &source;
}
