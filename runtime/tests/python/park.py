"""Parks a message on a retry topic with the SDK for Python: the other side of a live test.

    park.py BROKERS WORK_TOPIC TIER_MS URN
"""

import sys

from babelqueue.codec import EnvelopeCodec
from babelqueue.kafka_transport import KafkaTransport


def main(brokers, topic, tier_ms, urn):
    transport = KafkaTransport(f"kafka://{brokers}", retry_tiers_ms=[tier_ms])
    envelope = EnvelopeCodec.make(urn, {"number": 7, "text": "Grüße, 東京"}, queue=topic)
    transport.publish_delayed(topic, EnvelopeCodec.encode(envelope), tier_ms)
    transport.close()


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4])
