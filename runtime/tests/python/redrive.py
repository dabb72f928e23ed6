"""Redrives with the SDK for Python: the other side of a live test.

    redrive.py BROKERS DLQ GROUP COUNT

Redrives DLQ until COUNT messages are redriven, then prints a line of JSON for each: {"id", "urn", "reason",
"to"}. Ends with code 1 if that takes more than 60 seconds.
"""

import json
import sys
import time

from babelqueue.kafka_transport import KafkaTransport
from babelqueue.redrive import redrive

DEADLINE_S = 60


def main(brokers, dlq, group, count):
    transport = KafkaTransport(f"kafka://{brokers}", group_id=group)
    deadline = time.monotonic() + DEADLINE_S
    items = []
    while len(items) < count:
        if time.monotonic() > deadline:
            sys.exit(f"redrive.py: {len(items)} of {count} messages within {DEADLINE_S} s")
        result = redrive(transport, dlq, max=count - len(items), timeout=5.0)
        items += [item for item in result.items if item.redriven]
    transport.close()
    for item in items:
        print(json.dumps({"id": item.message_id, "urn": item.urn, "reason": item.reason, "to": item.to}))


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    main(*sys.argv[1:4], count=int(sys.argv[4]))
