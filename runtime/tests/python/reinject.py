"""Moves records back to their work topic with the SDK for Python: the other side of a live test.

    reinject.py BROKERS WORK_TOPIC TIER_MS GROUP COUNT

Ends with code 0 once COUNT records are written and committed, and with code 1 if that takes more
than 60 seconds.
"""

import sys
import time

from babelqueue.kafka_retry import RetryReinjector

DEADLINE_S = 60


def main(brokers, topic, tier_ms, group, count):
    reinjector = RetryReinjector(
        f"kafka://{brokers}", work_topics=[topic], retry_tiers_ms=[tier_ms], group_id=group
    )
    deadline = time.monotonic() + DEADLINE_S
    written = 0
    while written < count:
        if time.monotonic() > deadline:
            sys.exit(f"reinject.py: wrote {written} of {count} records within {DEADLINE_S} s")
        written += reinjector.run_once(0.1)
    reinjector.close()


if __name__ == "__main__":
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4], int(sys.argv[5]))
