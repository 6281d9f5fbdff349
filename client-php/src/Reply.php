<?php

declare(strict_types=1);

namespace Carillon;

/** A response, with everything that came with its body. */
final class Reply
{
    /**
     * @param mixed $body the JSON as arrays; null after 204
     * @param array<string, string> $headers names in lower case
     * @param list<string> $warnings parts of the request that were accepted but have no effect
     * @param string $requestId the `X-Request-Id` of the call, by which an operator finds it in the log of the service
     */
    public function __construct(
        public readonly int $status,
        public readonly mixed $body,
        public readonly array $headers,
        public readonly array $warnings,
        public readonly string $requestId,
    ) {
    }
}
