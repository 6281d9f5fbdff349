import base64
import http.client
import json
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from typing import Any, Callable, Dict, Iterator, Mapping, Optional

from .errors import CarillonError, read_refusal
from .signature import sign_push
from .tokens import AccessTokens

PAGE_SIZE = 15
MAX_REPEATS = 3
MAX_WAIT_SECONDS = 60


class _RefuseRedirects(urllib.request.HTTPRedirectHandler):
    """A redirection would take the credentials to another host; it is an error of status 3xx instead."""

    def redirect_request(self, *_given: Any, **_named: Any) -> None:
        return None


OPENER = urllib.request.build_opener(_RefuseRedirects)


class CarillonClient:
    """Access tokens, signed pushes, file segments and campaign search. Methods raise ``CarillonError``.

    A data or campaigns key is used where there is one; otherwise calls travel under the access token of ``oauth_key``.
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
    ) -> None:
        self._base_url = base_url.rstrip("/")
        self._workspace_id, self._db_name, self._prefix = workspace_id, db_name, header_prefix
        self._push_key, self._keys = push_key, {"data": data_key, "campaigns": campaigns_key}
        self._timeout_seconds, self._sleep = timeout_seconds, sleep
        self.tokens = None if oauth_key is None else AccessTokens(self._ask_token, workspace_id, oauth_key, now)

    def send_push(self, push: Mapping[str, Any], *, idempotency_key: Optional[str] = None) -> Dict[str, Any]:
        """Creates and sends a push (v2.1); a repeat after a lost reply sends once."""
        if self._push_key is None:
            raise TypeError("push_key is needed to send")
        name, audience = str(push["campaignName"]), str(push["targetAudience"])
        headers = {
            f"X-{self._prefix}-APPKEY": self._workspace_id,
            f"X-{self._prefix}-PushAPI-Signature": sign_push(self._workspace_id, name, self._push_key),
            f"X-{self._prefix}-Query-Type": audience.lower(),
        }
        key = idempotency_key or str(uuid.uuid4())
        reply: Dict[str, Any] = self._repeat("POST", "/v2.1/transaction/sendpush", push, headers, key)
        if reply.get("status") != "Success":
            raise read_refusal(200, json.dumps(reply), None)
        return reply

    def create_file_segment(
        self, segment: Mapping[str, Any], *, idempotency_key: Optional[str] = None
    ) -> Dict[str, Any]:
        """Accepted; its outcome is posted to ``callback_url`` (``verify_callback``)."""
        path, key = "/v2/custom-segments/file-segment", idempotency_key or str(uuid.uuid4())
        accepted: Dict[str, Any] = self._call("data", "POST", path, segment, key)
        return accepted

    def get_segment(self, segment_id: str) -> Dict[str, Any]:
        path = f"/v3/custom-segments/{urllib.parse.quote(segment_id, safe='')}"
        found: Dict[str, Any] = self._call("data", "GET", path)["data"]
        return found

    def wait_for_segment(
        self, segment_id: str, *, timeout_seconds: float = 600, poll_seconds: float = 1
    ) -> Dict[str, Any]:
        """Asks until the segment is not being filled any more, for whoever has no receiver of callbacks.

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

    def search_campaigns(self, search: Optional[Mapping[str, Any]] = None) -> Iterator[Dict[str, Any]]:
        """All campaigns that fit (V5), page by page."""

        def ask(page: Dict[str, int]) -> Any:
            found = self._call("campaigns", "POST", "/v5/campaigns/search", {**(search or {}), **page})
            return found["data"]["campaigns"]

        return self._pages(ask)

    def search_campaigns_v1(self, search: Optional[Mapping[str, Any]] = None) -> Iterator[Dict[str, Any]]:
        """The same through V1."""

        def ask(page: Dict[str, int]) -> Any:
            body = {"request_id": str(uuid.uuid4()), **(search or {}), **page}
            found = self._call("campaigns", "POST", "/v1/campaigns/search", body)
            # A workspace chooses between the two forms.
            return found if isinstance(found, list) else found["campaigns"]

        return self._pages(ask)

    def _pages(self, ask: Callable[[Dict[str, int]], Any]) -> Iterator[Dict[str, Any]]:
        page = 0
        while True:
            page += 1
            found = ask({"limit": PAGE_SIZE, "page": page})
            yield from found
            # The first page with fewer is the last.
            if len(found) < PAGE_SIZE:
                return

    def _call(self, family: str, method: str, path: str, body: Any = None, key: Optional[str] = None) -> Any:
        headers = {f"{self._prefix}-APPKEY": self._workspace_id}
        if self._db_name is not None:
            headers[f"{self._prefix}-DBNAME"] = self._db_name
        secret = self._keys[family]
        if secret is not None:
            basic = base64.b64encode(f"{self._workspace_id}:{secret}".encode()).decode()
            return self._repeat(method, path, body, {**headers, "Authorization": f"Basic {basic}"}, key)
        if self.tokens is None:
            raise TypeError(f"{family}_key or oauth_key is needed for {path}")
        token = self.tokens.get()
        try:
            return self._repeat(method, path, body, {**headers, "Authorization": f"Bearer {token}"}, key)
        except CarillonError as error:
            # A token that ended elsewhere is made anew, once.
            if error.status != 401:
                raise
            self.tokens.forget(token)
            return self._repeat(method, path, body, {**headers, "Authorization": f"Bearer {self.tokens.get()}"}, key)

    def _ask_token(self, path: str, form: Dict[str, str]) -> Dict[str, Any]:
        data = urllib.parse.urlencode(form).encode()
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        reply: Dict[str, Any] = self._patiently(lambda: self._send("POST", path, data, headers))
        return reply

    def _repeat(self, method: str, path: str, body: Any, headers: Dict[str, str], key: Optional[str]) -> Any:
        data = None if body is None else json.dumps(body).encode()
        given = {**headers, **({} if data is None else {"Content-Type": "application/json"})}
        if key is not None:
            given["Idempotency-Key"] = key
        return self._patiently(lambda: self._send(method, path, data, given))

    def _patiently(self, send: Callable[[], Any]) -> Any:
        """Waits as long as the service asks (429, 503). What is sent here is searched for, or done once by its key."""
        for repeats in range(MAX_REPEATS + 1):
            try:
                return send()
            except CarillonError as error:
                if error.status not in (0, 429, 503) or repeats == MAX_REPEATS:
                    raise
                asked = error.retry_after_seconds
                self._sleep(0.25 * 2**repeats if asked is None else min(asked, MAX_WAIT_SECONDS))
        raise AssertionError("the last repeat returns or raises")

    def _send(self, method: str, path: str, data: Optional[bytes], headers: Dict[str, str]) -> Any:
        request = urllib.request.Request(self._base_url + path, data=data, headers=headers, method=method)
        try:
            try:
                with OPENER.open(request, timeout=self._timeout_seconds) as reply:
                    return json.loads(reply.read())
            except urllib.error.HTTPError as error:
                with error:
                    text = error.read().decode("utf-8", "replace")
                refusal = read_refusal(error.code, text, error.headers.get("Retry-After"))
        # The last: a reply that breaks off, or is none of HTTP.
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise CarillonError(0, "unreachable", f"The service was not reached, or did not reply: {error}") from error
        raise refusal
