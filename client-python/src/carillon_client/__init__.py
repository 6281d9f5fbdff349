"""Client for a Carillon service; the standard library is all it needs."""

from .callbacks import verify_callback
from .client import CarillonClient
from .errors import CarillonError
from .signature import sign_push

__all__ = ["CarillonClient", "CarillonError", "sign_push", "verify_callback"]
