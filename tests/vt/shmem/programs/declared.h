/* SPDX-License-Identifier: BSD-3-Clause */
/* After shmem.h: the table of calls as that declares them. */
#define VT_SHMEM_CTX shmem_ctx_t
#define VT_SHMEM_TEAM shmem_team_t
#define VT_SHMEM_TEAM_CONFIG shmem_team_config_t
#define VT_SHMEM_TEAM_SYNC void
#define VT_SHMEM_OF (OSHMEM_MAJOR_VERSION >= 5 ? 5 : 4)
