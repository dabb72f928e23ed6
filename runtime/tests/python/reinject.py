"""Moves records back to their work topic with the SDK for Python, once their tier of a second is over.

    reinject.py BROKERS TOPIC GROUP COUNT

Ends with code 0 once COUNT records are moved, and with code 1 if that takes more than 60 seconds.
"""

import sys
import time

from babelqueue.kafka_retry import RetryReinjector

DEADLINE_S = 60
TIERS_MS = [1000]


def main(brokers, topic, group, count):
    reinjector = RetryReinjector(
        f"kafka://{brokers}", work_topics=[topic], retry_tiers_ms=TIERS_MS, group_id=group
    )
    deadline = time.monotonic() + DEADLINE_S
    moved = 0
    while moved < count and time.monotonic() < deadline:
        moved += reinjector.run_once(0.2)
    reinjector.close()
    if moved < count:
        sys.exit(f"reinject.py: moved {moved} of {count} records within {DEADLINE_S} s")


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    main(*sys.argv[1:4], count=int(sys.argv[4]))
