import base64
import binascii
import hashlib
import hmac
import json
import time
from typing import Any, Dict, Mapping, Optional

TOLERANCE_SECONDS = 5 * 60


def verify_callback(
    headers: Mapping[str, str], raw_body: bytes, secret: str, now: Optional[float] = None
) -> Optional[Dict[str, Any]]:
    """The content of a callback, or None when the workspace did not sign it, or more than five minutes ago.

    ``headers`` in any case; ``raw_body`` as it came; ``secret`` is the workspace's ``whsec_…``.
    """
    given = {name.lower(): value for name, value in headers.items()}
    message_id, timestamp = given.get("webhook-id", ""), given.get("webhook-timestamp", "")
    if not message_id or not (timestamp.isascii() and timestamp.isdigit()):
        return None
    if abs((time.time() if now is None else now) - int(timestamp)) > TOLERANCE_SECONDS:
        return None
    key = base64.b64decode(secret[len("whsec_") :] if secret.startswith("whsec_") else secret)
    signed = f"{message_id}.{timestamp}.".encode() + raw_body
    expected = hmac.new(key, signed, hashlib.sha256).digest()
    # While a secret is replaced there are two; one that fits is enough.
    for signature in given.get("webhook-signature", "").split():
        try:
            decoded = base64.b64decode(signature[len("v1,") :] if signature.startswith("v1,") else signature)
        except (binascii.Error, ValueError):
            continue
        if hmac.compare_digest(decoded, expected):
            outcome: Dict[str, Any] = json.loads(raw_body)
            return outcome
    return None
