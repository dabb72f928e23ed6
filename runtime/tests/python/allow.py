"""Lets an account do something, and nobody else the same unless a rule allows it too.

Arguments: brokers, account, then for each rule what it is about (TOPIC or GROUP), its name and the operation.
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

brokers, account, *words = sys.argv[1:]
rules = [
    AclBinding(
        ResourceType[kind],
        name,
        ResourcePatternType.LITERAL,
        f"User:{account}",
        "*",
        AclOperation[operation],
        AclPermissionType.ALLOW,
    )
    for kind, name, operation in zip(words[::3], words[1::3], words[2::3], strict=True)
]
# The answers come from this client, which has to stay until then.
admin = AdminClient({"bootstrap.servers": brokers})
for created in admin.create_acls(rules).values():
    created.result(10)
