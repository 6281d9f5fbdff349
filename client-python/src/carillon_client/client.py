import base64
import http.client
import json
import random
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional

from .errors import CarillonError, read_refusal, split_warnings
from .operations import OPERATIONS, Operation, OperationId
from .signature import sign_push
from .tokens import AccessTokens

PAGE_SIZE = 15
MAX_REPEATS = 3
MAX_WAIT_SECONDS = 60
FIRST_WAIT_SECONDS = 0.25
#: Statuses of a service or proxy that failed: the next attempt may succeed. A 409 is final, so it is not among them.
FAILURES = (0, 500, 502, 503, 504)
#: Searches change nothing, so they may be repeated without a key.
HARMLESS = ("search", "meta", "executions", "validate", "preview", "export", "campaign-stats")

Json = Dict[str, Any]


class _RefuseRedirects(urllib.request.HTTPRedirectHandler):
    """A redirection would take the credentials to another host; it is an error of status 3xx instead."""

    def redirect_request(self, *_given: Any, **_named: Any) -> None:
        return None


OPENER = urllib.request.build_opener(_RefuseRedirects)


@dataclass(frozen=True)
class Reply:
    """A response, with everything that came with its body."""

    body: Any
    status: int
    #: Names in lower case.
    headers: Mapping[str, str]
    #: Parts of the request that were accepted but have no effect.
    warnings: List[str]
    #: The ``X-Request-Id`` of the call, by which an operator finds it in the log of the service.
    request_id: str


class CarillonClient:
    """Calls every operation of a Carillon service. Methods raise ``CarillonError``.

    A data, campaigns or push key is used where there is one; otherwise calls use the access token of ``oauth_key``.
    """

    def __init__(
        self,
        base_url: str,
        workspace_id: str,
        *,
        oauth_key: Optional[str] = None,
        push_key: Optional[str] = None,
        data_key: Optional[str] = None,
        campaigns_key: Optional[str] = None,
        db_name: Optional[str] = None,
        header_prefix: str = "SVC",
        timeout_seconds: float = 60,
        now: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._base_url = base_url.rstrip("/")
        self._workspace_id, self._db_name, self._prefix = workspace_id, db_name, header_prefix
        self._push_key = push_key
        self._keys = {"data": data_key, "campaigns": campaigns_key, "push": push_key}
        self._timeout_seconds, self._sleep, self._jitter = timeout_seconds, sleep, jitter
        self.tokens = None if oauth_key is None else AccessTokens(self._ask_token, workspace_id, oauth_key, now)

    def call(
        self,
        operation: OperationId,
        parameters: Optional[Mapping[str, Any]] = None,
        body: Any = None,
        *,
        idempotency_key: Optional[str] = None,
    ) -> Any:
        """Calls any operation of the API document by its ``operationId``, and returns the body of the response."""
        return self.call_with_reply(operation, parameters, body, idempotency_key=idempotency_key).body

    def call_with_reply(
        self,
        operation: OperationId,
        parameters: Optional[Mapping[str, Any]] = None,
        body: Any = None,
        *,
        idempotency_key: Optional[str] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Reply:
        """Like ``call``, and returns status, headers, warnings and request id as well."""
        row = OPERATIONS[operation]
        path = self._path_of(row, {"app_id": self._workspace_id, "workspace_id": self._workspace_id, **(parameters or {})})
        takes_key = "Idempotency-Key" in row.headers
        given: Dict[str, str] = {"X-Request-Id": str(uuid.uuid4()), **self._fixed_headers(row), **(headers or {})}
        if takes_key:
            given["Idempotency-Key"] = idempotency_key or str(uuid.uuid4())
        data = None if body is None else json.dumps(body).encode()
        if data is not None:
            given["Content-Type"] = "application/json"
        is_safe = takes_key or row.method == "GET" or row.path.rsplit("/", 1)[-1] in HARMLESS

        def send(credentials: Mapping[str, str]) -> Reply:
            return self._patiently(lambda: self._send(row.method, path, data, {**given, **credentials}), is_safe)

        secret = self._keys.get(row.key)
        if row.key == "none":
            return send({})
        if secret is not None:
            basic = base64.b64encode(f"{self._workspace_id}:{secret}".encode()).decode()
            return send({"Authorization": f"Basic {basic}"})
        if self.tokens is None:
            raise TypeError(f"{row.key}_key or oauth_key is needed for {row.path}")
        token = self.tokens.get()
        try:
            return send({"Authorization": f"Bearer {token}"})
        except CarillonError as error:
            # A token that was revoked elsewhere is replaced, once.
            if error.status != 401:
                raise
            self.tokens.forget(token)
            return send({"Authorization": f"Bearer {self.tokens.get()}"})

    def send_push(self, push: Mapping[str, Any], *, idempotency_key: Optional[str] = None) -> Json:
        """Creates and sends a push (v2.1); a retry after a lost response sends once.

        The result has ``warnings``: the parts of the push that have no effect.

        :raises ValueError: the push has no ``campaignName`` or no ``targetAudience``
        """
        if self._push_key is None:
            raise TypeError("push_key is needed to send")
        name, audience = _required(push, "campaignName"), _required(push, "targetAudience")
        headers = {
            f"X-{self._prefix}-APPKEY": self._workspace_id,
            f"X-{self._prefix}-PushAPI-Signature": sign_push(self._workspace_id, name, self._push_key),
            f"X-{self._prefix}-Query-Type": audience.lower(),
        }
        reply = self.call_with_reply("sendPushV21", body=push, idempotency_key=idempotency_key, headers=headers)
        if not isinstance(reply.body, dict) or reply.body.get("status") != "Success":
            raise read_refusal(200, json.dumps(reply.body), reply.headers, reply.request_id)
        return {**reply.body, "warnings": reply.warnings}

    def upsert_user(self, customer_id: str, attributes: Optional[Mapping[str, Any]] = None) -> None:
        """Creates or changes a user."""
        self.call("upsertCustomer", body={"type": "customer", "customer_id": customer_id, "attributes": attributes or {}})

    def register_device(
        self,
        customer_id: str,
        device_id: str,
        *,
        platform: str,
        push_id: Any,
        attributes: Optional[Mapping[str, Any]] = None,
    ) -> None:
        """Creates or renews a device of a user; ``platform`` is ``ANDROID``, ``iOS`` or ``web``."""
        all_attributes = {**(attributes or {}), "platform": platform, "push_id": push_id}
        body = {"type": "device", "customer_id": customer_id, "device_id": device_id, "attributes": all_attributes}
        self.call("upsertDevice", body=body)

    def create_file_segment(self, segment: Mapping[str, Any], *, idempotency_key: Optional[str] = None) -> Json:
        """Creates a segment from a file. The outcome is posted to ``callback_url`` (``verify_callback``)."""
        return _object(self.call("createFileSegment", body=segment, idempotency_key=idempotency_key))

    def get_segment(self, segment_id: str) -> Json:
        return _object(_member(self.call("getSegment", {"id": segment_id}), "data"))

    def wait_for_segment(self, segment_id: str, *, timeout_seconds: float = 600, poll_seconds: float = 1) -> Json:
        """Asks until the segment is filled, for programs without a receiver of callbacks.

        :raises TimeoutError: it is still being filled
        """
        ends_at = time.monotonic() + timeout_seconds
        while True:
            segment = self.get_segment(segment_id)
            if segment.get("status") != "FILLING":
                return segment
            if time.monotonic() >= ends_at:
                raise TimeoutError(f"{segment_id} is still being filled")
            self._sleep(poll_seconds)

    def search_campaigns(self, search: Optional[Mapping[str, Any]] = None) -> Iterator[Json]:
        """Returns all campaigns that match (V5), page by page."""
        return self._pages(lambda page: self.search_page(search, page))

    def search_campaigns_v1(self, search: Optional[Mapping[str, Any]] = None) -> Iterator[Json]:
        """The same through V1."""
        return self._pages(lambda page: self.search_page_v1(search, page))

    def search_page(self, search: Optional[Mapping[str, Any]], page: int) -> List[Json]:
        """Returns one page of campaigns (V5); the first is 1."""
        body = {**(search or {}), "limit": PAGE_SIZE, "page": page}
        return _objects(_member(_member(self.call("searchCampaigns", body=body), "data"), "campaigns"))

    def search_page_v1(self, search: Optional[Mapping[str, Any]], page: int) -> List[Json]:
        """Returns one page of campaigns (V1); the first is 1."""
        body = {"request_id": str(uuid.uuid4()), **(search or {}), "limit": PAGE_SIZE, "page": page}
        found = self.call("searchCampaignsV1", body=body)
        # A workspace chooses between the two forms.
        return _objects(found if isinstance(found, list) else _member(found, "campaigns"))

    def _pages(self, read: Callable[[int], List[Json]]) -> Iterator[Json]:
        page = 0
        while True:
            page += 1
            found = read(page)
            yield from found
            # The first page that is not full is the last.
            if len(found) < PAGE_SIZE:
                return

    def _path_of(self, row: Operation, values: Mapping[str, Any]) -> str:
        path = row.path
        for name in row.path_names:
            path = path.replace("{" + name + "}", urllib.parse.quote(_required(values, name), safe=""))
        query = {name: values[name] for name in row.query if values.get(name) is not None}
        return path + ("?" + urllib.parse.urlencode(query) if query else "")

    def _fixed_headers(self, row: Operation) -> Dict[str, str]:
        headers: Dict[str, str] = {}
        for starred in row.headers:
            name = starred.replace("*", self._prefix)
            if starred.endswith("APPKEY"):
                headers[name] = self._workspace_id
            if starred.endswith("DBNAME") and self._db_name is not None:
                headers[name] = self._db_name
        return headers

    def _ask_token(self, path: str, form: Dict[str, str]) -> Json:
        data = urllib.parse.urlencode(form).encode()
        headers = {"Content-Type": "application/x-www-form-urlencoded", "X-Request-Id": str(uuid.uuid4())}
        return _object(self._patiently(lambda: self._send("POST", path, data, headers), True).body)

    def _patiently(self, send: Callable[[], Reply], is_safe: bool) -> Reply:
        """Retries after 429 always, and after failures if a repeat changes nothing."""
        for repeats in range(MAX_REPEATS + 1):
            try:
                return send()
            except CarillonError as error:
                is_retried = error.status == 429 or (is_safe and error.status in FAILURES)
                if not is_retried or repeats == MAX_REPEATS:
                    raise
                asked = error.retry_after_seconds
                # At least a half of a time that doubles, so that clients that failed together do not return together.
                backoff = FIRST_WAIT_SECONDS * float(2**repeats) * (0.5 + self._jitter() / 2)
                self._sleep(backoff if asked is None else min(asked, MAX_WAIT_SECONDS))
        raise AssertionError("the last repeat returns or raises")

    def _send(self, method: str, path: str, data: Optional[bytes], headers: Mapping[str, str]) -> Reply:
        request = urllib.request.Request(self._base_url + path, data=data, headers=dict(headers), method=method)
        request_id = headers["X-Request-Id"]
        try:
            try:
                with OPENER.open(request, timeout=self._timeout_seconds) as reply:
                    text, status = reply.read(), int(reply.status)
                    found = {name.lower(): value for name, value in reply.headers.items()}
            except urllib.error.HTTPError as error:
                with error:
                    text = error.read()
                found = {name.lower(): value for name, value in error.headers.items()}
                refusal = read_refusal(error.code, text.decode("utf-8", "replace"), found, request_id)
                raise refusal from None
        # The last: a response that breaks off, or is not HTTP.
        except (OSError, http.client.HTTPException) as error:
            message = f"The service was not reached, or did not reply: {error}"
            raise CarillonError(0, "unreachable", message, request_id=request_id) from error
        warnings = split_warnings(found.get(f"x-{self._prefix}-warning".lower(), ""))
        return Reply(_parse(text, status, request_id), status, found, warnings, request_id)


def _parse(text: bytes, status: int, request_id: str) -> Any:
    if status == 204 or text == b"":
        return None
    try:
        return json.loads(text)
    except ValueError:
        raise CarillonError(status, "foreign", f"HTTP {status} without JSON", request_id=request_id) from None


def _required(values: Mapping[str, Any], name: str) -> str:
    value = values.get(name)
    if value is None or value == "":
        raise ValueError(f"{name} is required")
    return str(value)


def _member(body: Any, name: str) -> Any:
    """A member of a response. A response without it is not from the service."""
    if isinstance(body, dict) and name in body:
        return body[name]
    raise CarillonError(200, "foreign", f"The response has no {name}", body=body)


def _object(body: Any) -> Json:
    if isinstance(body, dict):
        return body
    raise CarillonError(200, "foreign", "The response is not an object", body=body)


def _objects(body: Any) -> List[Json]:
    if isinstance(body, list):
        return [_object(item) for item in body]
    raise CarillonError(200, "foreign", "The response is not a list", body=body)
