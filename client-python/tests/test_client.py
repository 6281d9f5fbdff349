"""Against a running Carillon, named by the variables that ``carillon status --env`` prints, and ``WEBHOOK_SECRET``."""

import asyncio
import io
import json
import os
import threading
import unittest
import urllib.error
import urllib.request
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue
from typing import Any, Dict, List, Optional, Tuple
from unittest.mock import patch

from carillon_client import (
    OPERATIONS,
    AsyncCarillonClient,
    CarillonClient,
    CarillonError,
    sign_push,
    verify_callback,
)

URL, WORKSPACE = os.environ["CARILLON_API_URL"], os.environ["CARILLON_WORKSPACE_ID"]


def make_client(**more: Any) -> CarillonClient:
    given: Dict[str, Any] = {
        "oauth_key": os.environ["CARILLON_OAUTH_KEY"],
        "push_key": os.environ["CARILLON_PUSH_KEY"],
        "db_name": os.environ["CARILLON_WORKSPACE_DB_NAME"],
    }
    return CarillonClient(URL, WORKSPACE, **{**given, **more})


def sandbox(path: str, body: Optional[object] = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{URL}/sandbox/{path}", data=data, headers={"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as reply:
        return json.loads(reply.read() or b"null")


def push_to(customer_id: str, name: str) -> Dict[str, Any]:
    return {
        "campaignName": name,
        "targetPlatform": ["ANDROID"],
        "targetAudience": "User",
        "targetUserAttributes": {
            "attribute": "USER_ATTRIBUTE_UNIQUE_ID",
            "comparisonParameter": "is",
            "attributeValue": customer_id,
        },
        "payload": {"ANDROID": {"title": name, "message": "Hello"}},
        "campaignDelivery": {"type": "soon"},
    }


class Site(BaseHTTPRequestHandler):
    posted: "Queue[Tuple[Dict[str, str], bytes]]" = Queue()

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"ada\nnobody\n")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        Site.posted.put((dict(self.headers.items()), body))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_given: Any) -> None:
        pass


class BreakingOff(BaseHTTPRequestHandler):
    """Announces more than it sends."""

    def do_GET(self) -> None:
        self.send_response(500 if self.path.endswith("500") else 200)
        self.send_header("Content-Length", "100")
        self.end_headers()
        self.wfile.write(b"{")

    def log_message(self, *_given: Any) -> None:
        pass


class Clients(unittest.TestCase):
    def test_a_token_is_kept_and_refreshed_before_its_end_and_made_anew_when_the_refresh_token_is_refused(self) -> None:
        now = [1_000.0]
        client = make_client(now=lambda: now[0])
        tokens = client.tokens
        assert tokens is not None
        first = tokens.get()
        now[0] += 779
        self.assertEqual(tokens.get(), first)
        now[0] += 1
        second = tokens.get()
        self.assertNotEqual(second, first)
        tokens._refresh_token = "not one"
        tokens.forget(second)
        self.assertNotIn(tokens.get(), (first, second))

    def test_a_token_that_was_revoked_elsewhere_is_replaced_within_the_call(self) -> None:
        client = make_client()
        assert client.tokens is not None
        client.tokens._access_token, client.tokens._expires_at = "revoked", float("inf")
        self.assertEqual(list(client.search_campaigns({"campaign_fields": {"name": "No such"}})), [])

    def test_the_signature_is_the_one_of_the_interface(self) -> None:
        # printf 'W|name|key' | sha256sum
        expected = "9c575a59e6c7d3fe4241ebfdb6083954641f434e984a04bdb168956b1fb651c0"
        self.assertEqual(sign_push("W", "name", "key"), expected)

    def test_a_push_arrives_and_its_campaign_is_found_in_both_versions(self) -> None:
        client = make_client()
        sent = client.send_push(push_to("ada", "From Python"), idempotency_key="python-1")
        self.assertEqual(client.send_push(push_to("ada", "From Python"), idempotency_key="python-1"), sent)
        messages = sandbox("inbox?wait=10000")["messages"]
        self.assertEqual([message["title"] for message in messages], ["From Python"])
        wanted = {"campaign_fields": {"name": "From Python"}}
        self.assertEqual([found["id"] for found in client.search_campaigns(wanted)], [sent["cid"]])
        self.assertEqual([found["campaign_id"] for found in client.search_campaigns_v1(wanted)], [sent["cid"]])

    def test_a_refusal_has_the_words_of_the_service(self) -> None:
        with self.assertRaises(CarillonError) as push:
            make_client(push_key="another").send_push(push_to("ada", "Not signed"))
        self.assertEqual((push.exception.status, push.exception.code), (200, "Signature is not verified"))
        with self.assertRaises(CarillonError) as token:
            list(make_client(oauth_key="another").search_campaigns())
        self.assertEqual((token.exception.status, token.exception.code), (401, "ER011"))
        with self.assertRaises(CarillonError) as nobody:
            CarillonClient("http://127.0.0.1:9", WORKSPACE, oauth_key="x", sleep=lambda _: None).get_segment("x")
        self.assertEqual(nobody.exception.status, 0)

    def test_a_reply_that_breaks_off_is_none_and_is_asked_for_again(self) -> None:
        server = ThreadingHTTPServer(("127.0.0.1", 0), BreakingOff)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        waited: List[float] = []
        url = f"http://127.0.0.1:{server.server_address[1]}"
        client = CarillonClient(url, WORKSPACE, data_key="x", sleep=waited.append, jitter=lambda: 1.0)
        try:
            for path in ("200", "500"):
                with self.assertRaises(CarillonError) as broken:
                    client.get_segment(path)
                self.assertEqual((broken.exception.status, broken.exception.code), (0, "unreachable"))
            self.assertEqual(waited, [0.25, 0.5, 1, 0.25, 0.5, 1])
        finally:
            server.shutdown()
            server.server_close()

    def test_a_busy_service_is_waited_for_as_long_as_it_asks(self) -> None:
        waited: List[float] = []
        fault = {"status": 503, "headers": {"retry-after": "7"}, "count": 1}
        sandbox("faults", {"api": {"route": "POST /v5/campaigns/search", **fault}})
        list(make_client(sleep=waited.append).search_campaigns())
        self.assertEqual(waited, [7])

    def test_a_push_returns_the_parts_that_have_no_effect(self) -> None:
        push = {**push_to("ada", "With unknown parts"), "colour": "red", "a, b": 1}
        sent = make_client().send_push(push)
        self.assertEqual(sent["warnings"], ['unknown field "colour"', 'unknown field "a, b"'])

    def test_a_push_without_name_or_audience_is_rejected_before_it_is_sent(self) -> None:
        for missing in ("campaignName", "targetAudience"):
            push = push_to("ada", "Incomplete")
            del push[missing]
            with self.assertRaisesRegex(ValueError, f"{missing} is required"):
                make_client().send_push(push)

    def test_a_reply_has_status_headers_and_request_id_and_an_error_has_them_too(self) -> None:
        client = make_client(data_key=os.environ["CARILLON_DATA_KEY"])
        reply = client.call_with_reply("listSegments")
        self.assertEqual((reply.status, reply.warnings), (200, []))
        self.assertEqual(reply.headers["x-request-id"], reply.request_id)
        with self.assertRaises(CarillonError) as missing:
            client.get_segment("0" * 24)
        self.assertEqual(missing.exception.status, 404)
        self.assertEqual(missing.exception.headers["x-request-id"], missing.exception.request_id)

    def test_a_reply_that_is_not_from_the_service_is_an_error_and_no_key_error(self) -> None:
        client = make_client()
        with patch.object(client, "call", return_value={"unexpected": True}):
            for read in (lambda: client.get_segment("x"), lambda: list(client.search_campaigns())):
                with self.assertRaises(CarillonError) as foreign:
                    read()
                self.assertEqual(foreign.exception.code, "foreign")

    def test_a_failed_proxy_is_retried_under_the_same_key_and_a_conflict_is_not(self) -> None:
        for status, attempts in ((500, 4), (502, 4), (504, 4), (409, 1)):
            keys: List[Optional[str]] = []
            waited: List[float] = []
            client = make_client(sleep=waited.append, jitter=lambda: 0.0)

            def fail(request: urllib.request.Request, **_named: Any) -> Any:
                keys.append(request.get_header("Idempotency-key"))
                raise urllib.error.HTTPError(request.full_url, status, "failed", Message(), io.BytesIO(b"{}"))

            with patch("carillon_client.client.OPENER.open", side_effect=fail), self.assertRaises(CarillonError):
                client.send_push(push_to("ada", "Again"))
            self.assertEqual((len(keys), len(set(keys))), (attempts, 1))
            self.assertIsNotNone(keys[0])
            self.assertEqual(waited, [0.125, 0.25, 0.5][: attempts - 1])

    def test_the_asynchronous_client_does_the_same_without_blocking_the_loop(self) -> None:
        async def work() -> Tuple[Dict[str, Any], List[str]]:
            client = AsyncCarillonClient(make_client(data_key=os.environ["CARILLON_DATA_KEY"]))
            await client.upsert_user("async", {"u_fn": "Async"})
            await client.register_device("async", "phone", platform="ANDROID", push_id="async-token")
            sent, _segments = await asyncio.gather(
                client.send_push(push_to("async", "From asyncio")), client.call("listSegments")
            )
            found = client.search_campaigns({"campaign_fields": {"name": "From asyncio"}})
            return sent, [campaign["id"] async for campaign in found]

        sent, found = asyncio.run(work())
        self.assertEqual(found, [sent["cid"]])

    def test_the_operations_all_reach_their_routes_with_the_right_credentials(self) -> None:
        # The last of those that call the node, because it uses up limits of a minute.
        client = make_client(
            data_key=os.environ["CARILLON_DATA_KEY"],
            campaigns_key=os.environ["CARILLON_CAMPAIGNS_KEY"],
            sleep=lambda _: None,
        )
        examples = json.loads(os.environ["CARILLON_EXAMPLES"])
        wrong, replied = [], 0
        for operation, row in OPERATIONS.items():
            # The sandbox is needed by the other tests, a push is signed by ``send_push``, and the app API is called by apps.
            if row.path.startswith(("/sandbox", "/v1/app/", "/segment/")) or operation.startswith("sendPush"):
                continue
            example = examples[operation]
            names = (*row.path_names, *row.query)
            given = {name: value for name, value in example.get("parameters", {}).items() if name in names}
            given = {name: value for name, value in given.items() if name not in ("app_id", "workspace_id")}
            try:
                client.call(operation, given, example.get("body"))
                replied += 1
            except CarillonError as error:
                if error.code in ("foreign", "unreachable") or error.status in (401, 403, 405):
                    wrong.append((operation, error.status, error.code))
        self.assertEqual(wrong, [])
        self.assertGreater(replied, 25)

    def test_a_segment_is_filled_and_its_callback_is_signed(self) -> None:
        server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        site = f"http://127.0.0.1:{server.server_address[1]}"
        client = make_client(data_key=os.environ["CARILLON_DATA_KEY"])
        accepted = client.create_file_segment(
            {
                "name": "Python readers",
                "attribute_name": "uid",
                "attribute_type": "string",
                "file_url": f"{site}/users.csv",
                "callback_url": f"{site}/callback",
                "expiry_time": 30,
            }
        )
        headers, body = Site.posted.get(timeout=30)
        server.shutdown()
        server.server_close()
        secret = os.environ["WEBHOOK_SECRET"]
        outcome = verify_callback(headers, body, secret)
        assert outcome is not None
        self.assertEqual((outcome["segment_name"], outcome["status"], outcome["user_count"]), ("Python readers", 201, 1))
        self.assertIsNone(verify_callback(headers, body + b" ", secret))
        self.assertIsNone(verify_callback(headers, body, secret, now=0))
        segment = client.wait_for_segment(accepted["cs_id"], poll_seconds=0.1, timeout_seconds=20)
        self.assertEqual((segment["status"], segment["user_count"]), ("READY", 1))


if __name__ == "__main__":
    unittest.main()
