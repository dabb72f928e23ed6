"""Dead-letters messages with the SDK for Python: the other side of a live test.

    dead_letter.py BROKERS TOPIC GROUP URN COUNT

Runs the SDK's consumer with a handler for URN that fails, so that each message goes to TOPIC.dlq. Ends with
code 0 once COUNT messages have failed and are committed, and with code 1 if that takes more than 60 seconds.
"""

import sys
import threading

from babelqueue import BabelQueue
from babelqueue.kafka_transport import KafkaTransport

DEADLINE_S = 60


def main(brokers, topic, group, urn, count):
    transport = KafkaTransport(f"kafka://{brokers}", group_id=group)
    app = BabelQueue(transport=transport, queue=topic, max_attempts=1, dead_letter=True)
    failed = 0

    @app.handler(urn)
    def fail(data, meta):
        nonlocal failed
        failed += 1
        if failed == count:
            # The loop still settles this message before it looks.
            app.stop()
        raise ValueError(f"no luck with {data}")

    deadline = threading.Timer(DEADLINE_S, app.stop)
    deadline.daemon = True
    deadline.start()
    app.consume(timeout=0.2)
    deadline.cancel()
    transport.close()
    if failed < count:
        sys.exit(f"dead_letter.py: {failed} of {count} messages within {DEADLINE_S} s")


if __name__ == "__main__":
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    main(*sys.argv[1:5], count=int(sys.argv[5]))
