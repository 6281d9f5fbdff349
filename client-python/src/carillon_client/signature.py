import hashlib


def sign_push(workspace_id: str, campaign_name: str, push_key: str) -> str:
    """The push signature: SHA-256 of workspace, campaign name and push key, lower-case hexadecimal."""
    text = f"{workspace_id}|{campaign_name}|{push_key}"
    return hashlib.sha256(text.encode()).hexdigest()
