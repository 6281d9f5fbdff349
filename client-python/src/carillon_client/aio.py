import asyncio
from typing import Any, AsyncIterator, Awaitable, Callable, List, Mapping, Optional

from .client import PAGE_SIZE, CarillonClient, Json, Reply
from .operations import OperationId


class AsyncCarillonClient:
    """The same client for ``asyncio``: each call runs in a thread of the event loop's pool, so that the loop is never blocked.

    ``AsyncCarillonClient(CarillonClient(…))`` shares keys and access token with the client that it wraps.
    """

    def __init__(self, client: CarillonClient) -> None:
        self._client = client

    async def call(
        self,
        operation: OperationId,
        parameters: Optional[Mapping[str, Any]] = None,
        body: Any = None,
        *,
        idempotency_key: Optional[str] = None,
    ) -> Any:
        return (await self.call_with_reply(operation, parameters, body, idempotency_key=idempotency_key)).body

    async def call_with_reply(
        self,
        operation: OperationId,
        parameters: Optional[Mapping[str, Any]] = None,
        body: Any = None,
        *,
        idempotency_key: Optional[str] = None,
    ) -> Reply:
        return await asyncio.to_thread(
            self._client.call_with_reply, operation, parameters, body, idempotency_key=idempotency_key
        )

    async def send_push(self, push: Mapping[str, Any], *, idempotency_key: Optional[str] = None) -> Json:
        return await asyncio.to_thread(self._client.send_push, push, idempotency_key=idempotency_key)

    async def upsert_user(self, customer_id: str, attributes: Optional[Mapping[str, Any]] = None) -> None:
        await asyncio.to_thread(self._client.upsert_user, customer_id, attributes)

    async def register_device(
        self,
        customer_id: str,
        device_id: str,
        *,
        platform: str,
        push_id: Any,
        attributes: Optional[Mapping[str, Any]] = None,
    ) -> None:
        await asyncio.to_thread(
            self._client.register_device,
            customer_id,
            device_id,
            platform=platform,
            push_id=push_id,
            attributes=attributes,
        )

    async def create_file_segment(self, segment: Mapping[str, Any], *, idempotency_key: Optional[str] = None) -> Json:
        return await asyncio.to_thread(self._client.create_file_segment, segment, idempotency_key=idempotency_key)

    async def get_segment(self, segment_id: str) -> Json:
        return await asyncio.to_thread(self._client.get_segment, segment_id)

    async def wait_for_segment(self, segment_id: str, *, timeout_seconds: float = 600, poll_seconds: float = 1) -> Json:
        return await asyncio.to_thread(
            self._client.wait_for_segment, segment_id, timeout_seconds=timeout_seconds, poll_seconds=poll_seconds
        )

    def search_campaigns(self, search: Optional[Mapping[str, Any]] = None) -> AsyncIterator[Json]:
        return _pages(lambda page: asyncio.to_thread(self._client.search_page, search, page))

    def search_campaigns_v1(self, search: Optional[Mapping[str, Any]] = None) -> AsyncIterator[Json]:
        return _pages(lambda page: asyncio.to_thread(self._client.search_page_v1, search, page))


async def _pages(read: Callable[[int], Awaitable[List[Json]]]) -> AsyncIterator[Json]:
    page = 0
    while True:
        page += 1
        found = await read(page)
        for item in found:
            yield item
        # The first page that is not full is the last.
        if len(found) < PAGE_SIZE:
            return
