import threading
import time
from typing import Any, Callable, Dict, Optional

from .errors import CarillonError

# A token is renewed this long before its end, or at four fifths of a shorter life.
RENEW_BEFORE_SECONDS = 120
REFRESH_LIFE_SECONDS = 30 * 24 * 3600

Ask = Callable[[str, Dict[str, str]], Dict[str, Any]]


class AccessTokens:
    """One access token for all threads: kept, and refreshed before it ends."""

    def __init__(self, ask: Ask, workspace_id: str, oauth_key: str, now: Callable[[], float] = time.time) -> None:
        self._ask, self._workspace_id, self._oauth_key, self._now = ask, workspace_id, oauth_key, now
        self._lock = threading.Lock()
        self._access_token = ""
        self._expires_at = 0.0
        self._refresh_token: Optional[str] = None
        self._refresh_until = 0.0

    def get(self) -> str:
        # Whoever comes while it is renewed waits for the one request.
        with self._lock:
            if self._expires_at <= self._now():
                self._renew()
            return self._access_token

    def forget(self, access_token: str) -> None:
        """A token that was refused though it should be good: the next caller gets another one."""
        with self._lock:
            if access_token == self._access_token:
                self._expires_at = 0.0

    def _renew(self) -> None:
        if self._refresh_token is not None and self._refresh_until > self._now():
            try:
                form = {"grant_type": "refresh_token", "refresh_token": self._refresh_token}
                return self._take("/v1/oauth/refresh", form)
            except CarillonError as error:
                # Revoked, or of a key made anew; the key itself may still be good.
                if error.code != "ER010":
                    raise
        self._take("/v1/oauth/token", {"grant_type": "client_credentials", "client_secret": self._oauth_key})

    def _take(self, path: str, form: Dict[str, str]) -> None:
        asked_at = self._now()
        data = self._ask(path, {"client_id": self._workspace_id, **form}).get("data")
        if not isinstance(data, dict) or "access_token" not in data or "expires_in" not in data:
            raise CarillonError(200, "foreign", "The response has no access token")
        life = float(data["expires_in"])
        self._access_token = str(data["access_token"])
        self._expires_at = asked_at + max(life - RENEW_BEFORE_SECONDS, life * 0.8)
        if "refresh_token" in data:
            self._refresh_token = data["refresh_token"]
            self._refresh_until = asked_at + REFRESH_LIFE_SECONDS - RENEW_BEFORE_SECONDS
