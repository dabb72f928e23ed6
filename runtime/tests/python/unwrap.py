"""Reads dead letters of poison records as a tool in Python would.

    unwrap.py BROKERS TOPIC COUNT

Prints one line of JSON for each dead letter of the topic's one partition, in order:

    {"original": base64, "reason", "attempts", "original_queue", "lang"}

where "original" is the value that the record had before it became a dead letter.
"""

import base64
import json
import sys

from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

DEADLINE_S = 60
BLOCK = b'"dead_letter":'


def original(value):
    document = json.loads(value)
    if "raw" not in document:
        # Spliced: what stands before the block, which is the last member.
        before = value[: value.rindex(BLOCK)]
        return before.removesuffix(b",") + b"}"
    if document.get("raw_encoding") == "base64":
        return base64.b64decode(document["raw"], validate=True)
    return document["raw"].encode("utf-8")


def main(brokers, topic, count):
    consumer = Consumer({"bootstrap.servers": brokers, "group.id": f"{topic}-unwrap"})
    consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
    for number in range(count):
        record = consumer.poll(DEADLINE_S)
        if record is None or record.error() is not None:
            sys.exit(f"unwrap.py: read {number} of {count} records within {DEADLINE_S} s")
        block = json.loads(record.value())["dead_letter"]
        line = {name: block[name] for name in ("reason", "attempts", "original_queue", "lang")}
        line["original"] = base64.b64encode(original(record.value())).decode("ascii")
        print(json.dumps(line))
    consumer.close()


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:3], count=int(sys.argv[3]))
