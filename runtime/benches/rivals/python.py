"""The same work by the SDK for Python, measured as the others are.

    python.py BROKERS TOPIC GROUP RECORDS

Prints what the turn took: wall time and processor time in microseconds, and the process's highest memory in KiB.
"""

import resource
import sys
import time

from babelqueue import BabelQueue
from babelqueue.kafka_transport import KafkaTransport

URN = "urn:babel:bench:order"


def main(brokers, topic, group, records):
    transport = KafkaTransport(f"kafka://{brokers}", group_id=group)
    app = BabelQueue(transport=transport, queue=topic, max_attempts=1)
    seen = 0
    start = None

    @app.handler(URN)
    def on_order(data, meta):
        nonlocal seen, start
        start = start or (time.perf_counter(), time.process_time())
        seen += 1
        if seen == records:
            app.stop()

    app.consume(timeout=0.2)
    wall, cpu = time.perf_counter() - start[0], time.process_time() - start[1]
    transport.close()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"turn {wall * 1e6:.0f} {cpu * 1e6:.0f} {peak}")


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    main(*sys.argv[1:4], records=int(sys.argv[4]))
