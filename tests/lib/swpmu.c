/* SPDX-License-Identifier: BSD-3-Clause */
/* Lets PAPI's perf_event component count the kernel's software events where there is no PMU: presents
 * libpfm4's software PMU "perf" as the one default core PMU, and takes that title from all others. The counts
 * are the kernel's own. Preloaded; linked with libpfm4, so that the real function is in the global scope even
 * when PAPI comes by dlopen. */
#include <dlfcn.h>
#include <perfmon/pfmlib.h>
#include <string.h>

pfm_err_t pfm_get_pmu_info(pfm_pmu_t pmu, pfm_pmu_info_t *info)
{
	static pfm_err_t (*real)(pfm_pmu_t, pfm_pmu_info_t *);
	pfm_err_t rc;

	if (!real) {
		*(void **)&real = dlsym(RTLD_NEXT, "pfm_get_pmu_info");
	}
	rc = real(pmu, info);
	if (rc == PFM_SUCCESS && info->name && strcmp(info->name, "perf") == 0) {
		info->is_present = 1;
		info->is_dfl = 1;
		info->type = PFM_PMU_TYPE_CORE;
		info->num_cntrs = 8;
		info->num_fixed_cntrs = 0;
	} else if (rc == PFM_SUCCESS && info->type == PFM_PMU_TYPE_CORE) {
		info->is_present = 0;
		info->is_dfl = 0;
	}
	return rc;
}
