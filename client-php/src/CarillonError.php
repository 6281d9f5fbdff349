<?php

declare(strict_types=1);

namespace Carillon;

/** The service rejected a call, or was not reached (status 0). */
final class CarillonError extends \RuntimeException
{
    /**
     * @param int $status of HTTP; 0 without a response
     * @param string $errorCode the service's own, such as `ER011`; `unreachable` without a response, `foreign` for a success without JSON
     * @param ?int $retryAfterSeconds the wait that the service requests
     * @param string $requestId the `X-Request-Id` of the call, by which an operator finds it in the log of the service
     * @param array<string, string> $headers names in lower case
     */
    public function __construct(
        public readonly int $status,
        public readonly string $errorCode,
        string $message,
        public readonly string $requestId,
        public readonly ?int $retryAfterSeconds = null,
        public readonly mixed $body = null,
        public readonly array $headers = [],
    ) {
        parent::__construct($message);
    }

    /** Reads an error response in any of the service's shapes. */
    public static function of(int $status, mixed $body, array $headers, string $requestId): self
    {
        $code = $message = "HTTP $status";
        $told = is_array($body) ? $body : [];
        $inner = $told['error'] ?? null;
        if (is_string($told['error_type'] ?? null)) {
            [$code, $message] = [$told['error_type'], (string) ($told['reason'] ?? '')];
        } elseif (is_string($told['Error_Message'] ?? null)) {
            $code = $message = $told['Error_Message'];
        } elseif (is_array($inner)) {
            [$code, $message] = [(string) ($inner['code'] ?? $inner['type'] ?? $code), (string) ($inner['message'] ?? '')];
        } elseif (is_string($told['title'] ?? null)) {
            $code = is_string($told['code'] ?? null) ? $told['code'] : $told['title'];
            $message = (string) ($told['description'] ?? $told['detail'] ?? $told['title']);
        } elseif (is_string($told['code'] ?? null)) {
            [$code, $message] = [$told['code'], (string) ($told['message'] ?? '')];
        }
        $asked = $headers['retry-after'] ?? '';
        return new self($status, $code, $message, $requestId, ctype_digit($asked) ? (int) $asked : null, $body, $headers);
    }
}
