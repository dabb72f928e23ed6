"""Handles messages with the SDK for Python: the other side of a live test.

    consume.py BROKERS TOPIC GROUP URN COUNT

Runs the SDK's consumer with a handler for URN and prints one line of JSON for each message that it
handles:

    {"id", "trace_id", "data", "attempts", "meta",
     "key": base64 or null, "headers": [[name, base64 or null], ...],
     "partition", "offset", "timestamp": ms, "value": base64}

Ends with code 0 once COUNT messages are handled and committed, and with code 1 if that takes more
than 60 seconds.
"""

import base64
import json
import sys
import threading

from babelqueue import BabelQueue
from babelqueue.kafka_transport import KafkaTransport

DEADLINE_S = 60


def to_base64(value):
    """Text; None stays None, which is not the same as empty."""
    return None if value is None else base64.b64encode(value).decode("ascii")


class RecordTransport(KafkaTransport):
    """The SDK's transport, which also remembers the record behind the message being handled: the
    SDK shows a handler neither the key nor the headers."""

    record = None

    def pop(self, queue, timeout=1.0):
        received = super().pop(queue, timeout)
        if received is not None:
            self.record = received.handle
        return received


def main(brokers, topic, group, urn, count):
    transport = RecordTransport(f"kafka://{brokers}", group_id=group)
    app = BabelQueue(transport=transport, queue=topic, max_attempts=1)
    handled = 0
    late = threading.Event()

    @app.handler(urn)
    def print_message(data, meta, envelope):
        nonlocal handled
        record = transport.record
        line = {
            "id": meta["id"],
            "trace_id": envelope["trace_id"],
            "data": data,
            "attempts": envelope["attempts"],
            "meta": meta,
            "key": to_base64(record.key()),
            "headers": [[name, to_base64(value)] for name, value in record.headers() or []],
            "partition": record.partition(),
            "offset": record.offset(),
            "timestamp": record.timestamp()[1],
            "value": to_base64(record.value()),
        }
        print(json.dumps(line), flush=True)
        handled += 1
        if handled == count:
            # The loop still commits this message before it looks.
            app.stop()

    def give_up():
        late.set()
        app.stop()

    deadline = threading.Timer(DEADLINE_S, give_up)
    deadline.daemon = True
    deadline.start()
    app.consume(timeout=0.2)
    deadline.cancel()
    transport.close()
    if handled < count:
        why = f"within {DEADLINE_S} s" if late.is_set() else "before it was stopped"
        sys.exit(f"consume.py: handled {handled} of {count} messages {why}")


if __name__ == "__main__":
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    main(*sys.argv[1:5], count=int(sys.argv[5]))
