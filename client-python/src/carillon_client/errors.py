import json
import re
from typing import Any, List, Mapping, Optional


class CarillonError(Exception):
    """The service rejected a call, or was not reached (status 0)."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        retry_after_seconds: Optional[int] = None,
        body: Any = None,
        *,
        request_id: Optional[str] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        super().__init__(message)
        #: Of HTTP; 0 without a response.
        self.status = status
        #: The service's own code, such as ``ER011``; ``unreachable`` without a response, ``foreign`` for one of a proxy.
        self.code = code
        self.retry_after_seconds = retry_after_seconds
        self.body = body
        #: The ``X-Request-Id`` of the call, by which an operator finds it in the log of the service.
        self.request_id = request_id
        #: Names in lower case.
        self.headers: Mapping[str, str] = headers or {}


def read_refusal(status: int, text: str, headers: Mapping[str, str], request_id: str) -> CarillonError:
    """Reads an error response in any of the service's shapes."""
    try:
        body: Any = json.loads(text)
    except ValueError:
        body = None
    retry_after = headers.get("retry-after")
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
            title = body["title"]
            code = body["code"] if isinstance(body.get("code"), str) else title
            message = str(body.get("description") or body.get("detail") or title)
        elif isinstance(body.get("code"), str):
            code, message = body["code"], str(body.get("message", ""))
    return CarillonError(status, code, message, seconds, body, request_id=request_id, headers=headers)


def split_warnings(text: str) -> List[str]:
    """The service separates warnings by a comma and a space; names in quotation marks may contain both."""
    found = re.findall(r'(?:"(?:[^"\\]|\\.)*"|[^,"]|,(?! ))+', text)
    return [warning.strip() for warning in found if warning.strip() != ""]
