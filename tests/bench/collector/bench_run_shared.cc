// SPDX-License-Identifier: BSD-3-Clause
// Copies of a shared_ptr, whose counts are atomic only where libstdc++ sees more than one thread: a program of bench_run.
#include <memory>

int main()
{
	std::shared_ptr<int> kept = std::make_shared<int>(1);
	long sum = 0;

	for (int i = 0; i < 300000000; i++) {
		std::shared_ptr<int> copy = kept;
		asm volatile("" : : "r"(copy.get()) : "memory");
		sum += copy.use_count();
	}
	return sum == 0;
}
