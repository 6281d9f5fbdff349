"""Performs the steps that it reads, one line of JSON each, and writes what each came to."""

import json
import sys
from typing import Any, Dict, List, Optional

from carillon_client import CarillonClient, CarillonError, sign_push, verify_callback

OPTIONS = {
    "oauthKey": "oauth_key",
    "pushKey": "push_key",
    "dataKey": "data_key",
    "campaignsKey": "campaigns_key",
    "dbName": "db_name",
}


class Steps:
    def __init__(self) -> None:
        self.client: Optional[CarillonClient] = None
        self.now = 1_000_000.0
        self.waits: List[float] = []

    def perform(self, step: Dict[str, Any]) -> Any:
        if step["do"] == "client":
            options: Dict[str, Any] = {OPTIONS[name]: value for name, value in step["options"].items() if name in OPTIONS}
            tools: Dict[str, Any] = {"now": lambda: self.now, "sleep": self.waits.append, "jitter": lambda: 1.0}
            self.client = CarillonClient(step["options"]["baseUrl"], step["options"]["workspaceId"], **options, **tools)
            return None
        if step["do"] == "clock":
            self.now += step["seconds"]
            return None
        if step["do"] == "signPush":
            return sign_push(*step["values"])
        if step["do"] == "verifyCallback":
            content = verify_callback(step["headers"], step["text"].encode(), step["secret"], step["seconds"])
            return content is not None
        assert self.client is not None
        key = step.get("idempotencyKey")
        if step["do"] == "sendPush":
            return self.client.send_push(step["body"], idempotency_key=key)
        reply = self.client.call_with_reply(
            step["operation"], step.get("parameters"), step.get("body"), idempotency_key=key
        )
        return {
            "status": reply.status,
            "body": reply.body,
            "warnings": reply.warnings,
            "requestId": reply.request_id,
        }


def describe(error: CarillonError) -> Dict[str, Any]:
    return {
        "status": error.status,
        "code": error.code,
        "message": str(error),
        "requestId": error.request_id,
        "retryAfterSeconds": error.retry_after_seconds,
    }


def main() -> None:
    steps = Steps()
    for line in sys.stdin:
        steps.waits.clear()
        outcome: Dict[str, Any] = {}
        try:
            outcome["result"] = steps.perform(json.loads(line))
        except CarillonError as error:
            outcome["error"] = describe(error)
        except (TypeError, ValueError) as error:
            outcome["error"] = {"status": -1, "code": "local", "message": str(error)}
        print(json.dumps({**outcome, "waits": steps.waits}), flush=True)


if __name__ == "__main__":
    main()
