"""Client for a Carillon service; the standard library is all it needs."""

from .aio import AsyncCarillonClient
from .callbacks import verify_callback
from .client import CarillonClient, Reply
from .errors import CarillonError
from .operations import OPERATIONS, OperationId
from .signature import sign_push

__all__ = [
    "OPERATIONS",
    "AsyncCarillonClient",
    "CarillonClient",
    "CarillonError",
    "OperationId",
    "Reply",
    "sign_push",
    "verify_callback",
]
