"""Handles and fails messages with the SDK for Python: a worker with retry topics and dead letters.

    work.py BROKERS TOPIC GROUP URN COUNT WHAT

Handles messages of URN and prints one line of JSON for each delivery: {"number", "attempts", "failed"}.
With WHAT "fail" it fails odd numbers, with "handle" none. A failed message goes to the one retry topic,
whose tier is a second, and after its second try to the dead-letter topic. A record that is no envelope
is a dead letter at once.

Ends with code 0 once COUNT records are settled, and with code 1 if that takes more than 60 seconds.
"""

import json
import sys
import threading

from babelqueue import BabelQueue
from babelqueue.kafka_transport import KafkaTransport

DEADLINE_S = 60
TIERS_MS = [1000]


class CountingTransport(KafkaTransport):
    """The SDK's transport, which also counts what it commits."""

    settled = 0
    on_settled = None

    def ack(self, message):
        super().ack(message)
        self.settled += 1
        self.on_settled()


def main(brokers, topic, group, urn, count, what):
    transport = CountingTransport(f"kafka://{brokers}", group_id=group, retry_tiers_ms=TIERS_MS)
    app = BabelQueue(transport=transport, queue=topic, max_attempts=2, dead_letter=True)

    def on_settled():
        if transport.settled == count:
            app.stop()

    transport.on_settled = on_settled

    @app.handler(urn)
    def handle(data, meta, envelope):
        failed = what == "fail" and data["number"] % 2 == 1
        line = {"number": data["number"], "attempts": envelope["attempts"], "failed": failed}
        print(json.dumps(line), flush=True)
        if failed:
            raise RuntimeError("odd")

    deadline = threading.Timer(DEADLINE_S, app.stop)
    deadline.daemon = True
    deadline.start()
    app.consume(timeout=0.2)
    deadline.cancel()
    transport.close()
    if transport.settled < count:
        sys.exit(f"work.py: settled {transport.settled} of {count} records within {DEADLINE_S} s")


if __name__ == "__main__":
    if len(sys.argv) != 7 or sys.argv[6] not in ("fail", "handle"):
        sys.exit(__doc__)
    main(*sys.argv[1:5], count=int(sys.argv[5]), what=sys.argv[6])
