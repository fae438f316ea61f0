/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the rule of each function from what the filter decides, when the function is defined. */
#include "config.h"
#include "collector-plugin/trace/rules.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "collector-plugin/core/collect.h"
#include "collector-plugin/filter/filter.h"
#include "collector-plugin/host/program/demangle.h"
#include "collector-plugin/stats/stats.h"

int vt_trace_wanted, vt_trace_idle;
uint32_t *vt_trace_rules;

void *vt_trace_memory(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static uint32_t level_bits(unsigned skip, unsigned levels)
{
	skip = skip > 15 ? 15 : skip;
	levels = levels > 15 ? 15 : levels;
	return levels ? levels << VT_TRACE_LEVELS_SHIFT | skip << VT_TRACE_SKIP_SHIFT : 0;
}

static uint32_t default_levels;

int vt_rules_start(unsigned skip, unsigned levels)
{
	default_levels = level_bits(skip, levels);
	if (!vt_trace_rules) {
		vt_trace_rules = vt_trace_memory(VT_TRACE_FUNCTIONS * sizeof(*vt_trace_rules));
	}
	return vt_trace_rules ? 0 : -1;
}

static struct vt_verdict **verdicts; /* indexed by function, like vt_trace_rules */

const struct vt_verdict *vt_trace_verdict(uint32_t function)
{
	return verdicts[function - VT_FIRST_ID];
}

/* Patterns match both forms of a C++ name: that of the source and that of the linker. */
static uint32_t make_rule(uint32_t i, const char *class_name, const char *name)
{
	struct vt_verdict v, *kept;
	uint32_t rule = VT_TRACE_KNOWN;
	char plain[1000] = "";

	if (!strncmp(name, "_Z", 2)) {
		snprintf(plain, sizeof(plain), "%s", name);
		vt_demangle(plain, sizeof(plain));
	}
	vt_filter_decide(class_name, name, plain[0] ? plain : NULL, &v);
	rule |= v.level >= 0 ? level_bits((unsigned)v.skip, (unsigned)v.level) : default_levels;
	rule |= v.callers | (v.record ? VT_TRACE_RECORD | VT_TRACE_PUSH : 0);
	/* a rule for functions called by it may apply */
	rule |= vt_filter_context() || vt_stats_wanted() ? VT_TRACE_PUSH : 0;
	if (v.fold >= 0 || !v.count || v.caller_bit || v.entry || v.exit) {
		verdicts = verdicts ? verdicts : vt_trace_memory(VT_TRACE_FUNCTIONS * sizeof(struct vt_verdict *));
		kept = verdicts ? malloc(sizeof(*kept)) : NULL;
		if (kept) {
			*kept = v;
			verdicts[i] = kept;
			rule |= VT_TRACE_RULED | VT_TRACE_PUSH;
		}
	}
	return rule;
}

void vt_trace_defined(uint32_t function, const char *class_name, const char *name)
{
	uint32_t i = function - VT_FIRST_ID, rule;

	if (!vt_trace_rules || i >= VT_TRACE_FUNCTIONS) {
		return;
	}
	rule = vt_filter_any() ? make_rule(i, class_name, name)
			       : VT_TRACE_KNOWN | VT_TRACE_RECORD | VT_TRACE_PUSH | default_levels;
	if (vt_stats_throttles() && (!strcmp(class_name, "MPI") || !strcmp(class_name, "SHMEM"))) {
		rule |= VT_TRACE_KEEP;
	}
	__atomic_store_n(&vt_trace_rules[i], rule, __ATOMIC_RELEASE);
}

void vt_trace_may_throttle(uint32_t function)
{
	if (vt_trace_rule(function)) {
		__atomic_fetch_and(&vt_trace_rules[function - VT_FIRST_ID], ~(uint32_t)VT_TRACE_KEEP, __ATOMIC_RELAXED);
	}
}

static _Atomic unsigned throttled;

void vt_trace_throttle(uint32_t function)
{
	uint32_t i = function - VT_FIRST_ID, was;

	if (i >= VT_TRACE_FUNCTIONS || vt_trace_rule(function) & VT_TRACE_KEEP) {
		return;
	}
	was = __atomic_fetch_and(&vt_trace_rules[i], ~(uint32_t)VT_TRACE_RECORD, __ATOMIC_RELAXED);
	if (was & VT_TRACE_RECORD) {
		atomic_fetch_add(&throttled, 1);
	}
}

unsigned vt_trace_throttled(void)
{
	return atomic_load(&throttled);
}
