-- Which messages seem to arrive before they were sent, and are their clocks to blame by more than their bound?
select sender, receiver, tag, bytes, sent_ns, received_ns, sent_ns - received_ns as too_early_ns, bound_ns,
    sent_ns - received_ns > bound_ns as beyond_bound
from messages
where received_ns < sent_ns
order by too_early_ns desc;
