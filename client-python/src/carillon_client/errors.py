import json
from typing import Any, Optional


class CarillonError(Exception):
    """The service refused a call, or was not reached (status 0)."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        retry_after_seconds: Optional[int] = None,
        body: Any = None,
    ) -> None:
        super().__init__(message)
        #: Of HTTP; 0 without a reply.
        self.status = status
        #: The service's own word, such as ``ER011``.
        self.code = code
        self.retry_after_seconds = retry_after_seconds
        self.body = body


def read_refusal(status: int, text: str, retry_after: Optional[str]) -> CarillonError:
    """Reads a refusal in any of the service's shapes."""
    try:
        body: Any = json.loads(text)
    except ValueError:
        body = None
    seconds = int(retry_after) if retry_after is not None and retry_after.isdigit() else None
    code, message = f"HTTP {status}", f"HTTP {status}"
    if isinstance(body, dict):
        error = body.get("error")
        if isinstance(body.get("error_type"), str):
            code, message = body["error_type"], str(body.get("reason", ""))
        elif "Error_Message" in body:
            code = message = str(body["Error_Message"])
        elif isinstance(error, dict):
            code, message = str(error.get("code", error.get("type", code))), str(error.get("message", ""))
        elif isinstance(body.get("title"), str):
            code = body["title"]
            message = str(body.get("description") or body.get("detail") or code)
    return CarillonError(status, code, message, seconds, body)
