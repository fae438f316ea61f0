// SPDX-License-Identifier: BSD-3-Clause
// Compiled with -finstrument-functions: recursion, templates, virtual functions, call-backs of libraries, exceptions through many
// functions, and threads, whose call trees two tracers see alike.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <pthread.h>

namespace shapes
{
struct shape {
	virtual ~shape() {}
	virtual double area() const = 0;
};
struct square : shape {
	double a;
	explicit square(double x) : a(x) {}
	double area() const override { return a * a; }
};
template <int N> struct scaled : square {
	explicit scaled(double x) : square(x * N) {}
	double area() const override { return square::area() + N; }
};
}

static unsigned next(unsigned &seed)
{
	seed = seed * 1103515245u + 12345u;
	return seed >> 16;
}

static int walk(unsigned &seed, int depth)
{
	int n = 1;

	if (depth > 30) {
		return n;
	}
	for (unsigned i = next(seed) % 3; i > 0; i--) {
		n += walk(seed, depth + 1);
	}
	return n;
}

static int deep(int n)
{
	if (n == 0) {
		throw std::runtime_error("bottom");
	}
	return deep(n - 1) + 1;
}

static int catches(int n)
{
	try {
		return deep(n);
	} catch (const std::exception &e) {
		return static_cast<int>(std::string(e.what()).size());
	}
}

static int ascending(const void *a, const void *b)
{
	return *static_cast<const int *>(a) - *static_cast<const int *>(b);
}

/* all threads are there at the same time, so that none gets the number of one that has ended */
static pthread_barrier_t together;

static void work(unsigned seed)
{
	std::vector<shapes::shape *> all;
	std::map<std::string, int> count;
	int v[50], sum = 0;

	pthread_barrier_wait(&together);
	for (int i = 0; i < 50; i++) {
		v[i] = static_cast<int>(next(seed) % 1000);
		if (i % 2) {
			all.push_back(new shapes::scaled<3>(v[i]));
		} else {
			all.push_back(new shapes::square(v[i]));
		}
		count[std::to_string(v[i] % 7)]++;
	}
	qsort(v, 50, sizeof(v[0]), ascending);
	std::sort(all.begin(), all.end(), [](const shapes::shape *a, const shapes::shape *b) { return a->area() < b->area(); });
	for (shapes::shape *s : all) {
		sum += static_cast<int>(s->area());
		delete s;
	}
	for (int i = 0; i < 20; i++) {
		sum += walk(seed, 0);
	}
	if (getenv("EXCEPTIONS")) {
		for (int i = 0; i < 10; i++) {
			sum += catches(i);
		}
	}
	pthread_barrier_wait(&together);
	if (sum == 42) {
		puts("never");
	}
}

int main()
{
	std::vector<std::thread> threads;

	pthread_barrier_init(&together, nullptr, 5);
	for (unsigned i = 0; i < 4; i++) {
		threads.emplace_back(work, 100 + i);
	}
	work(7);
	for (std::thread &t : threads) {
		t.join();
	}
	return 0;
}
