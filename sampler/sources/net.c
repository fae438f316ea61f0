/* SPDX-License-Identifier: BSD-3-Clause */
/* Network transfers: net_io of the Intel Trace Collector guide over system interfaces, and RDMA ports, whose traffic
 * the interfaces do not count ("might not include the MPI transport layer"). */
#include "config.h"
#include "sampler/sources/device.h"

#include "base/rootfs.h"

/* ---- interfaces ---------------------------------------------------------------------------------- */

static int net_names(int root, int (*each)(const char *name, void *ctx), void *ctx)
{
	return smp_dir_each(root, "/sys/class/net", each, ctx);
}

static void net_path(int root, const char *name, int i, char *buf, size_t size)
{
	(void)root;
	snprintf(buf, size, "/sys/class/net/%s/statistics/%s", name, i == 0 ? "rx_bytes" : "tx_bytes");
}

static int one_number(int i, const char *text, uint64_t raw[2])
{
	return smp_number(&text, &raw[i]);
}

static int net_has(int root, const char *name, const char *file)
{
	char at[160];

	snprintf(at, sizeof(at), "/sys/class/net/%s/%s", name, file);
	return smp_exists(root, at);
}

/* Is the interface hardware? Then it has a device; bonds, bridges, VLANs and virtual pairs have none. A representor
 * ("pf0vf3") shows traffic that the card's own port counts. */
static int is_hardware(int root, const char *name)
{
	char at[160], port[32];

	snprintf(at, sizeof(at), "/sys/class/net/%s/phys_port_name", name);
	tkm_root_line(root, at, port, sizeof(port));
	return net_has(root, name, "device") && !(strncmp(port, "pf", 2) == 0 && strstr(port, "vf"));
}

static int find_hardware(const char *name, void *ctx)
{
	return is_hardware(*(int *)ctx, name);
}

/* A container sees no hardware: there the container's end of the virtual pair counts. */
static int is_way_out(int root, const char *name)
{
	static const char *const stacked[] = { "bridge", "bonding", "tun_flags", "brport" };
	char at[160], type[16];
	size_t i;

	snprintf(at, sizeof(at), "/sys/class/net/%s/type", name);
	if (strcmp(tkm_root_line(root, at, type, sizeof(type)), "1") != 0 || strncmp(name, "ifb", 3) == 0 ||
		strncmp(name, "dummy", 5) == 0) {
		return 0;
	}
	for (i = 0; i < sizeof(stacked) / sizeof(stacked[0]); i++) {
		if (net_has(root, name, stacked[i])) {
			return 0;
		}
	}
	return 1;
}

int smp_net_own(int root, const char *name)
{
	return is_hardware(root, name) || (net_names(root, find_hardware, &root) == 0 && is_way_out(root, name));
}

static const struct smp_device_class net_class = {
	.prefix = "net_",
	.suffix = { "io", "rx", "tx" },
	.what = { "received and sent by", "received by", "sent by" },
	.noun = "interface",
	.nouns = "system interfaces",
	.fact = "nic:",
	.none = "/sys/class/net cannot be read: is /sys mounted?",
	.n_files = 2,
	.scale = 1,
	.fastest = UINT64_C(100000000000), /* 800 Gbit/s: interfaces move between namespaces with their counts */
	.names = net_names,
	.path = net_path,
	.parse = one_number,
	.own = smp_net_own,
};

static int net_list(const struct smp_env *env, const char *hint, smp_each each, void *ctx, char why[SMP_TEXT])
{
	return smp_device_list(&net_class, env, hint, each, ctx, why);
}

static uint64_t net_mark(const struct smp_env *env)
{
	return smp_device_mark(&net_class, env);
}

static void *net_open(const struct smp_env *env, const struct smp_target *target, const char *const *wanted, size_t n,
	char (*why_each)[SMP_TEXT], char why[SMP_TEXT])
{
	(void)target;
	return smp_device_open(&net_class, env, wanted, n, why_each, why);
}

const struct smp_source smp_net = {
	.abi = VTSOURCE_ABI,
	.size = sizeof(struct smp_source),
	.name = "net",
	.what = "bytes received and sent by network interfaces, of the node",
	.list = net_list,
	.open = net_open,
	.read = smp_device_read,
	.close = smp_device_close,
	.mark = net_mark,
};

/* ---- RDMA ports, "mlx5_0/1" ---------------------------------------------------------------------- */

struct ports {
	char device[SMP_DEVICE_NAME];
	int (*each)(const char *name, void *ctx);
	void *ctx;
	int root;
};

static int rdma_port(const char *port, void *ctx)
{
	struct ports *p = ctx;
	char name[SMP_DEVICE_NAME];

	if ((size_t)snprintf(name, sizeof(name), "%s/%s", p->device, port) >= sizeof(name)) {
		return 0;
	}
	return p->each(name, p->ctx);
}

static int rdma_device(const char *device, void *ctx)
{
	struct ports *p = ctx;
	char at[160];
	int rc;

	if (strlen(device) >= sizeof(p->device)) {
		return 0;
	}
	snprintf(p->device, sizeof(p->device), "%s", device);
	snprintf(at, sizeof(at), "/sys/class/infiniband/%s/ports", device);
	rc = smp_dir_each(p->root, at, rdma_port, p);
	return rc < 0 ? 0 : rc;
}

static int rdma_names(int root, int (*each)(const char *name, void *ctx), void *ctx)
{
	struct ports p = { "", each, ctx, root };

	return smp_dir_each(root, "/sys/class/infiniband", rdma_device, &p);
}

/* Old drivers have 32 bits that stop at their end, and 64 bits beside them. */
static void rdma_path(int root, const char *name, int i, char *buf, size_t size)
{
	const char *slash = strchr(name, '/');
	int len = slash ? (int)(slash - name) : (int)strlen(name);
	const char *port = slash ? slash + 1 : "";

	snprintf(buf, size, "/sys/class/infiniband/%.*s/ports/%s/counters_ext/port_%s_data_64", len, name, port,
		i == 0 ? "rcv" : "xmit");
	if (!smp_exists(root, buf)) {
		snprintf(buf, size, "/sys/class/infiniband/%.*s/ports/%s/counters/port_%s_data", len, name, port,
			i == 0 ? "rcv" : "xmit");
	}
}

static int rdma_own(int root, const char *name)
{
	char path[256];

	rdma_path(root, name, 0, path, sizeof(path));
	return smp_exists(root, path);
}

static const struct smp_device_class rdma_class = {
	.prefix = "rdma_",
	.suffix = { "io", "rx", "tx" },
	.what = { "received and sent by", "received by", "sent by" },
	.noun = "port",
	.nouns = "RDMA ports",
	.none = "there is no /sys/class/infiniband: no RDMA driver is loaded here",
	.n_files = 2,
	.scale = 4, /* the ports count words of four bytes, InfiniBand specification 16.1.3.5 */
	.fastest = UINT64_C(100000000000),
	.names = rdma_names,
	.path = rdma_path,
	.parse = one_number,
	.own = rdma_own,
};

static int rdma_list(const struct smp_env *env, const char *hint, smp_each each, void *ctx, char why[SMP_TEXT])
{
	return smp_device_list(&rdma_class, env, hint, each, ctx, why);
}

static uint64_t rdma_mark(const struct smp_env *env)
{
	return smp_device_mark(&rdma_class, env);
}

static void *rdma_open(const struct smp_env *env, const struct smp_target *target, const char *const *wanted, size_t n,
	char (*why_each)[SMP_TEXT], char why[SMP_TEXT])
{
	(void)target;
	return smp_device_open(&rdma_class, env, wanted, n, why_each, why);
}

const struct smp_source smp_rdma = {
	.abi = VTSOURCE_ABI,
	.size = sizeof(struct smp_source),
	.name = "rdma",
	.what = "bytes received and sent by RDMA ports, of the node",
	.list = rdma_list,
	.open = rdma_open,
	.read = smp_device_read,
	.close = smp_device_close,
	.mark = rdma_mark,
};
