# SPDX-License-Identifier: BSD-3-Clause
# What `samples -t` printed of a run of pages.c with -v threads=T -v rounds=R -v counters="NAME ..." of the process: after each
# Pages:go and up to the Pages:faults of the same thread each counter was sampled, and shows the pages that were touched by
# then. With one thread it shows no more than the process's own count of faults. Totals never go back. Prints what is wrong,
# and a line for each process and counter.
function hex(s,  i, v) # exact up to 2^52
{
	v = 0
	for (i = length(s) - 12; i <= length(s); i++) {
		v = v * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
	}
	return v
}
function wrong(text)
{
	if (bad++ < 10) {
		print "wrong: " text
	}
}
BEGIN {
	n_counters = split(counters, counter, " ")
}
{
	name = $3
	sub(/^[A-Za-z_]*:/, "", name)
	value = hex($NF)
	split($2, at, ":")
	for (i = 1; i <= n_counters; i++) {
		if (name == counter[i]) {
			k = at[1] " " name
			if (!(k in first)) {
				first[k] = value
			}
			if (value < last[k] && ($5 == 1 || name ~ /^sde/)) {
				wrong($2 " " name " goes back by " last[k] - value " at " $1)
			}
			if (at[2] != 0) {
				wrong(name " is stored under thread " $2)
			}
			last[k] = value
			value_of[k " " ++seen[k]] = value
		}
	}
}
name == "go" {
	number[$2] = value
	for (i = 1; i <= n_counters; i++) {
		before_it[$2 " " i] = seen[at[1] " " counter[i]]
	}
}
name == "before" {
	earlier[$2] = value
}
name == "low" {
	low[$2] = value
}
name == "high" {
	high[$2] = value
}
name == "faults" {
	events[at[1]]++
	for (i = 1; i <= n_counters; i++) {
		k = at[1] " " counter[i]
		if (seen[k] == before_it[$2 " " i]) {
			wrong($2 " event " number[$2] ": no sample of " counter[i])
			continue
		}
		if (!(k in zero)) {
			# the one ahead of all pages
			zero[k] = last[k]
			own[at[1]] = earlier[$2]
		}
		grown = last[k] - zero[k]
		if (counter[i] ~ /^sde|faults|minflt/ && grown < low[$2]) {
			wrong($2 " event " number[$2] ": " grown " of " counter[i] " where " low[$2] " pages were touched")
		}
		if (threads == 1 || number[$2] > rounds) {
			# that of the event, or one of the background thread ahead of it; one after it may have been read later
			grown = value_of[k " " before_it[$2 " " i] + 1] - zero[k]
			limit = counter[i] ~ /^sde/ ? high[$2] : value - own[at[1]]
			if (counter[i] ~ /^sde|faults|minflt/ && grown > limit) {
				wrong($2 " event " number[$2] ": " grown " of " counter[i] " where " limit " are the most")
			}
		}
		most[k] = grown
	}
}
END {
	for (p in events) {
		for (i = 1; i <= n_counters; i++) {
			k = p " " counter[i]
			printf "process %s: %d events, %d samples of %s, which grew by %d\n", p, events[p], seen[k], counter[i], most[k]
			if (events[p] != threads * rounds + 2 || seen[k] < events[p]) {
				wrong("process " p " has " events[p] " events")
			}
			n++
		}
	}
	exit bad > 0 || n == 0
}
