"""Lets an account do one thing with a topic, and nobody else anything.

Arguments: brokers, account, topic, operation.
"""

import sys

from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)

brokers, account, topic, operation = sys.argv[1:]
rule = AclBinding(
    ResourceType.TOPIC,
    topic,
    ResourcePatternType.LITERAL,
    f"User:{account}",
    "*",
    AclOperation[operation],
    AclPermissionType.ALLOW,
)
# The answers come from this client, which has to stay until then.
admin = AdminClient({"bootstrap.servers": brokers})
for created in admin.create_acls([rule]).values():
    created.result(10)
