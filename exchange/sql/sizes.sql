-- How do time and rate depend on the size of a message?
select if(bytes = 0, 0, 1::bigint << floor(log2(bytes))::int) as from_bytes, count(*) as messages, sum(bytes) as bytes,
    avg(received_ns - sent_ns) as mean_ns, 1e9 * sum(bytes) / nullif(sum(received_ns - sent_ns), 0) as bytes_per_s
from messages
group by from_bytes
order by from_bytes;
