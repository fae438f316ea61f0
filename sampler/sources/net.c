/* SPDX-License-Identifier: BSD-3-Clause */
/* Network transfers: net_io of the Intel Trace Collector guide over system interfaces, packets, and RDMA ports, whose
 * traffic the interfaces do not count ("might not include the MPI transport layer"). */
#include "config.h"
#include "sampler/sources/device.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/rootfs.h"

/* ---- which interfaces count ---------------------------------------------------------------------- */

static int net_has(int root, const char *name, const char *file)
{
	struct tkm_printed at = { 0 };
	const char *path = tkm_printed(&at, "/sys/class/net/%s/%s", name, file);
	int has = path && smp_exists(root, path);

	free(at.text);
	return has;
}

static char *net_line(int root, const char *name, const char *file, char *buf, size_t size)
{
	struct tkm_printed at = { 0 };
	const char *path = tkm_printed(&at, "/sys/class/net/%s/%s", name, file);

	buf[0] = '\0';
	if (path) {
		tkm_root_line(root, path, buf, size);
	}
	free(at.text);
	return buf;
}

/* The interface that a link in an interface's folder leads to; "" if there is none. */
static char *net_link(int root, const char *name, const char *link, char *buf, size_t size)
{
	struct tkm_printed at = { 0 };
	const char *path = tkm_printed(&at, "sys/class/net/%s/%s", name, link), *last;
	ssize_t n = path ? readlinkat(root, path, buf, size - 1) : -1;

	buf[n > 0 ? n : 0] = '\0';
	last = strrchr(buf, '/');
	if (last) {
		memmove(buf, last + 1, strlen(last + 1) + 1);
	}
	free(at.text);
	return buf;
}

/* "p0", "p1s2", "c0p0": a port of a card, not one of its functions (devlink-port(7)). */
static int is_physical_port(const char *name)
{
	uint64_t v;

	if (*name == 'c' || *name == 'n') {
		name++;
		if (smp_number(&name, &v) < 0) {
			return 0;
		}
	}
	do {
		if (*name != 'p' && *name != 's') {
			return 0;
		}
		name++;
		if (smp_number(&name, &v) < 0) {
			return 0;
		}
	} while (*name);
	return 1;
}

/* A representor shows what passes between a switch in the card and a virtual machine; the card's own port counts what
 * leaves. */
static int is_representor(int root, const char *name)
{
	char port[64], at_switch[128];

	net_line(root, name, "phys_port_name", port, sizeof(port));
	net_line(root, name, "phys_switch_id", at_switch, sizeof(at_switch));
	return port[0] && !is_physical_port(port) &&
		(at_switch[0] || (strstr(port, "pf") && (strstr(port, "vf") || strstr(port, "sf"))));
}

struct below {
	const char *name;
	int root, found;
};

/* Does the interface lie on one with hardware that is no part of it: "lower_NAME", whose master it is not? */
static int find_carrier(const char *file, void *ctx)
{
	struct below *b = ctx;
	const char *lower = file + strlen("lower_");
	char master[256];

	b->found |= strncmp(file, "lower_", strlen("lower_")) == 0 && net_has(b->root, lower, "device") &&
		strcmp(net_link(b->root, lower, "master", master, sizeof(master)), b->name) != 0;
	return b->found;
}

/* The end in Xen's first domain of a virtual machine's interface: it has a device, and what passes it leaves by another one. */
static int is_end_of_guest(int root, const char *name)
{
	char bus[64];

	return strcmp(net_link(root, name, "device/subsystem", bus, sizeof(bus)), "xen-backend") == 0;
}

/* Is the interface hardware that counts its traffic alone? It has a device; bonds, bridges, VLANs and virtual pairs have
 * none. What is enslaved to other hardware is counted there: by the synthetic interface of a virtual machine, by a
 * failover pair. The ports of a switch chip are counted by the interface that carries them. */
static int is_hardware(int root, const char *name)
{
	struct below below = { name, root, 0 };
	struct tkm_printed at = { 0 };
	char master[256], next[256];
	const char *folder;
	int depth;

	if (!net_has(root, name, "device") || is_representor(root, name) || is_end_of_guest(root, name)) {
		return 0;
	}
	net_link(root, name, "master", master, sizeof(master));
	for (depth = 0; master[0] && depth < 8; depth++) {
		if (net_has(root, master, "device")) {
			return 0;
		}
		net_link(root, master, "master", next, sizeof(next));
		memcpy(master, next, sizeof(master));
	}
	folder = tkm_printed(&at, "/sys/class/net/%s", name);
	if (folder) {
		smp_dir_each(root, folder, find_carrier, &below);
	}
	free(at.text);
	return !below.found;
}

static int find_hardware(const char *name, void *ctx)
{
	return is_hardware(*(int *)ctx, name);
}

/* A container sees no hardware: there the container's end of a virtual pair counts, which says that its other end is
 * elsewhere. Where interfaces do not say that, all count that are made for it. */
static int is_way_out(int root, const char *name)
{
	static const char *const stacked[] = { "bridge", "bonding", "tun_flags", "brport" };
	char type[16], index[24], link[24];
	size_t i;

	net_line(root, name, "type", type, sizeof(type));
	net_line(root, name, "ifindex", index, sizeof(index));
	net_line(root, name, "iflink", link, sizeof(link));
	if (strcmp(type, "1") != 0 || (index[0] && strcmp(index, link) == 0) || strncmp(name, "ifb", 3) == 0 ||
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
	return is_hardware(root, name) ||
		(smp_dir_each(root, "/sys/class/net", find_hardware, &root) == 0 && is_way_out(root, name));
}

/* ---- interfaces ---------------------------------------------------------------------------------- */

enum { RX = 1, TX, RX_PACKETS, TX_PACKETS, RX_ERRORS, TX_ERRORS, RX_DROPS, TX_DROPS, N_VALUES };

/* 800 Gbit/s. */
#define FASTEST UINT64_C(100000000000)
#define BYTES(f) \
	{ \
		"statistics/" f, .at = {.where = SMP_WORD, .nth = 1, .can = { .fastest = FASTEST } } \
	}
#define PACKETS(f) \
	{ \
		"statistics/" f, .at = {.where = SMP_WORD, .nth = 1, .can = { .fastest = 2000000000 } } \
	}
static const struct smp_device_value value[N_VALUES] = {
	[RX] = BYTES("rx_bytes"),
	[TX] = BYTES("tx_bytes"),
	[RX_PACKETS] = PACKETS("rx_packets"),
	[TX_PACKETS] = PACKETS("tx_packets"),
	[RX_ERRORS] = PACKETS("rx_errors"),
	[TX_ERRORS] = PACKETS("tx_errors"),
	[RX_DROPS] = PACKETS("rx_dropped"),
	[TX_DROPS] = PACKETS("tx_dropped"),
};

static const struct smp_device_kind interfaces = {
	.folder = { "/sys/class/net", NULL },
	.begins = "",
	.noun = "interface",
	.nouns = "system interfaces",
	.none = "/sys/class/net cannot be read: is /sys mounted?",
	.always = 1,
	.value = value,
	.n_values = N_VALUES,
	.own = smp_net_own,
	.identity = "ifindex",
	.birth = "ifindex",
	/* an interface from another namespace may bring its number, and all that it counted there */
	.birth_near = 1,
	.born_most = 1000000000,
};

/* clang-format off */
#define NET(n, u, w, f, s, ...) { &interfaces, n, u, w, SMP_TOTAL, f, s, { __VA_ARGS__ } }
static const struct smp_device_counter net_counters[] = {
	NET("net_io", "bytes", "received and sent by %s", 1.0 / 1024, "KB/s", RX, TX),
	NET("net_rx", "bytes", "received by %s", 1.0 / 1024, "KB/s", RX),
	NET("net_tx", "bytes", "sent by %s", 1.0 / 1024, "KB/s", TX),
	NET("net_rx_packets", "packets", "packets received", 0, NULL, RX_PACKETS),
	NET("net_tx_packets", "packets", "packets sent", 0, NULL, TX_PACKETS),
	NET("net_rx_errors", "packets", "packets received with errors", 0, NULL, RX_ERRORS),
	NET("net_tx_errors", "packets", "packets that could not be sent", 0, NULL, TX_ERRORS),
	NET("net_rx_drops", "packets", "packets received and dropped, for example because buffers were full", 0, NULL, RX_DROPS),
	NET("net_tx_drops", "packets", "packets dropped before they were sent", 0, NULL, TX_DROPS),
};
/* clang-format on */
static const struct smp_device_source net_source = { net_counters, sizeof(net_counters) / sizeof(net_counters[0]) };

static int net_list(const struct smp_env *env, const char *hint, smp_each each, void *ctx, char why[SMP_TEXT])
{
	(void)why;
	return smp_device_list(&net_source, env, hint, each, ctx);
}

static uint64_t net_mark(const struct smp_env *env)
{
	return smp_device_mark(&interfaces, env);
}

static void *net_open(const struct smp_env *env, const struct smp_target *target, const char *const *wanted, size_t n,
	char (*why_each)[SMP_TEXT], char why[SMP_TEXT])
{
	(void)target;
	return smp_device_open(&net_source, env, wanted, n, why_each, why);
}

const struct smp_source smp_net = {
	.abi = VTSOURCE_ABI,
	.size = sizeof(struct smp_source),
	.name = "net",
	.what = "bytes and packets of network interfaces, of the node",
	.list = net_list,
	.open = net_open,
	.read = smp_device_read,
	.close = smp_device_close,
	.mark = net_mark,
};

/* ---- RDMA ports, "mlx5_0/1" ---------------------------------------------------------------------- */

struct ports {
	const char *device;
	int (*each)(const char *name, void *ctx);
	void *ctx;
	struct tkm_printed path, name;
	int root;
};

static int rdma_port(const char *port, void *ctx)
{
	struct ports *p = ctx;
	const char *name = tkm_printed(&p->name, "%s/%s", p->device, port);

	return name ? p->each(name, p->ctx) : 0;
}

static int rdma_device(const char *device, void *ctx)
{
	struct ports *p = ctx;
	const char *folder = tkm_printed(&p->path, "/sys/class/infiniband/%s/ports", device);
	int rc;

	p->device = device;
	rc = folder ? smp_dir_each(p->root, folder, rdma_port, p) : 0;
	return rc < 0 ? 0 : rc;
}

static int rdma_names(int root, int (*each)(const char *name, void *ctx), void *ctx)
{
	struct ports p = { .each = each, .ctx = ctx, .root = root };
	int rc = smp_dir_each(root, "/sys/class/infiniband", rdma_device, &p);

	free(p.path.text);
	free(p.name.text);
	return rc;
}

static const char *rdma_path(int root, const char *name, const char *file, struct tkm_printed *path)
{
	const char *slash = strchr(name, '/');
	int len = slash ? (int)(slash - name) : (int)strlen(name);

	(void)root;
	return tkm_printed(path, "/sys/class/infiniband/%.*s/ports/%s/%s", len, name, slash ? slash + 1 : "", file);
}

/* The ports count words of four bytes, InfiniBand specification 16.1.3.5. Old drivers have 32 bits that stop at their end,
 * and 64 bits beside them; EFA counts bytes, among the hardware's own counters. */
#define WORDS(f, ...) \
	{ \
		f, .at = { .where = SMP_WORD, .nth = 1, .can = { .fastest = FASTEST / 4 } }, .scale = 4, __VA_ARGS__ \
	}
static const struct smp_device_value rdma_value[] = {
	{ .file = NULL },
	WORDS("counters_ext/port_rcv_data_64"),
	WORDS("counters/port_rcv_data", .instead = 1),
	{ "hw_counters/rx_bytes", .at = { .where = SMP_WORD, .nth = 1, .can = { .fastest = FASTEST } }, .instead = 1 },
	WORDS("counters_ext/port_xmit_data_64"),
	WORDS("counters/port_xmit_data", .instead = 1),
	{ "hw_counters/tx_bytes", .at = { .where = SMP_WORD, .nth = 1, .can = { .fastest = FASTEST } }, .instead = 1 },
};
enum { RDMA_RX = 1, RDMA_TX = 4 };

static const struct smp_device_kind ports = {
	.folder = { "/sys/class/infiniband", NULL },
	.begins = "",
	.noun = "port",
	.nouns = "RDMA ports",
	.none = "there is no /sys/class/infiniband: no RDMA driver is loaded here",
	.always = 1,
	.value = rdma_value,
	.n_values = sizeof(rdma_value) / sizeof(rdma_value[0]),
	.names = rdma_names,
	.path = rdma_path,
};

static const struct smp_device_counter rdma_counters[] = {
	{ &ports, "rdma_io", "bytes", "received and sent by %s", SMP_TOTAL, 1.0 / 1024, "KB/s", { RDMA_RX, RDMA_TX } },
	{ &ports, "rdma_rx", "bytes", "received by %s", SMP_TOTAL, 1.0 / 1024, "KB/s", { RDMA_RX, 0 } },
	{ &ports, "rdma_tx", "bytes", "sent by %s", SMP_TOTAL, 1.0 / 1024, "KB/s", { RDMA_TX, 0 } },
};
static const struct smp_device_source rdma_source = { rdma_counters, sizeof(rdma_counters) / sizeof(rdma_counters[0]) };

static int rdma_list(const struct smp_env *env, const char *hint, smp_each each, void *ctx, char why[SMP_TEXT])
{
	(void)why;
	return smp_device_list(&rdma_source, env, hint, each, ctx);
}

static uint64_t rdma_mark(const struct smp_env *env)
{
	return smp_device_mark(&ports, env);
}

static void *rdma_open(const struct smp_env *env, const struct smp_target *target, const char *const *wanted, size_t n,
	char (*why_each)[SMP_TEXT], char why[SMP_TEXT])
{
	(void)target;
	return smp_device_open(&rdma_source, env, wanted, n, why_each, why);
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
