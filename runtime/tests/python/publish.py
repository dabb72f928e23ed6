"""Publishes messages with the SDK for Python: the other side of a live test.

    publish.py BROKERS TOPIC URN < messages

Each line of standard input is a JSON object:

    {"data": {...}, "key": base64 or null, "headers": [[name, base64 or null], ...], "trace_id": text}

of which only "data" is required. When every record is acknowledged, one line of JSON for each
message, in order, goes to standard output: {"id", "trace_id", "partition", "offset"}.
"""

import base64
import json
import sys

from babelqueue import BabelQueue
from babelqueue.codec import EnvelopeCodec
from babelqueue.kafka_transport import KafkaTransport
from confluent_kafka import Producer

FLUSH_DEADLINE_S = 30


def from_base64(text):
    """Bytes; None stays None, which is not the same as empty."""
    return None if text is None else base64.b64decode(text, validate=True)


class RecordProducer:
    """The producer that the SDK's transport is given.

    The SDK builds envelope, headers and timestamp itself but has no way to set a record key or a
    header of one's own, so they are added here, where the transport hands a finished record over.
    """

    def __init__(self, brokers):
        self._producer = Producer({"bootstrap.servers": brokers, "acks": "all"})
        self._key = None
        self._headers = []
        self.published = []
        self.failed = []

    def next_record(self, key, headers):
        self._key, self._headers = key, headers

    def produce(self, topic, *, value, headers, **record):
        envelope = EnvelopeCodec.decode(value.decode("utf-8"))
        line = {"id": envelope["meta"]["id"], "trace_id": envelope["trace_id"]}
        self.published.append(line)

        def on_delivery(error, message):
            if error is not None:
                self.failed.append(f"{line['id']}: {error}")
            line.update(partition=message.partition(), offset=message.offset())

        self._producer.produce(
            topic,
            value=value,
            key=self._key,
            headers=headers + self._headers,
            on_delivery=on_delivery,
            **record,
        )

    def poll(self, timeout):
        return self._producer.poll(timeout)

    def flush(self, timeout):
        return self._producer.flush(timeout)


def main(brokers, topic, urn):
    producer = RecordProducer(brokers)
    app = BabelQueue(transport=KafkaTransport(producer=producer), queue=topic)
    for text in sys.stdin:
        message = json.loads(text)
        headers = [(name, from_base64(value)) for name, value in message.get("headers") or []]
        producer.next_record(from_base64(message.get("key")), headers)
        app.publish(urn, message["data"], trace_id=message.get("trace_id"))
    undelivered = producer.flush(FLUSH_DEADLINE_S)
    if undelivered:
        sys.exit(f"publish.py: {undelivered} records were not acknowledged in {FLUSH_DEADLINE_S} s")
    if producer.failed:
        sys.exit("publish.py: not delivered:\n" + "\n".join(producer.failed))
    for line in producer.published:
        print(json.dumps(line))


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
