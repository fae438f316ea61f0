-- Who sends how much to whom, and how long does a message take? bound_ns: by how much each of these times may be off.
select sender, receiver, count(*) as messages, sum(bytes) as bytes, min(received_ns - sent_ns) as shortest_ns,
    median(received_ns - sent_ns) as median_ns, max(received_ns - sent_ns) as longest_ns, max(bound_ns) as bound_ns
from messages
group by sender, receiver
order by sender, receiver;
