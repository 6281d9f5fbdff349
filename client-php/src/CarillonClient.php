<?php

declare(strict_types=1);

namespace Carillon;

/** Calls every operation of a Carillon service. Methods throw `CarillonError`. */
final class CarillonClient
{
    private const MAX_REPEATS = 3;
    private const MAX_WAIT_SECONDS = 60;
    private const FIRST_WAIT_SECONDS = 0.25;
    /** Statuses of a service or proxy that failed. A 409 is final, so it is not among them. */
    private const FAILURES = [0, 500, 502, 503, 504];

    private readonly string $baseUrl;
    /** @var array<string, ?string> */
    private readonly array $keys;
    private readonly ?AccessTokens $tokens;
    private readonly \Closure $sleep;
    private readonly \Closure $jitter;

    /**
     * A data, campaigns or push key is used where there is one; otherwise calls use the access token of `oauthKey`.
     *
     * @param ?string $dbName database name of the workspace, required for file segments
     * @param string $headerPrefix abbreviation in names of headers
     * @param ?\Closure $now seconds now, $sleep for seconds and $jitter from 0 to 1: replaced in tests
     */
    public function __construct(
        string $baseUrl,
        private readonly string $workspaceId,
        ?string $oauthKey = null,
        private readonly ?string $pushKey = null,
        ?string $dataKey = null,
        ?string $campaignsKey = null,
        private readonly ?string $dbName = null,
        private readonly string $headerPrefix = 'SVC',
        private readonly int $timeoutSeconds = 60,
        ?\Closure $now = null,
        ?\Closure $sleep = null,
        ?\Closure $jitter = null,
    ) {
        $this->baseUrl = rtrim($baseUrl, '/');
        $this->keys = ['data' => $dataKey, 'campaigns' => $campaignsKey, 'push' => $pushKey];
        $this->sleep = $sleep ?? static fn (float $seconds) => usleep((int) ($seconds * 1e6));
        $this->jitter = $jitter ?? static fn (): float => mt_rand() / mt_getrandmax();
        $ask = fn (string $path, array $form): Reply => $this->patiently('POST', $path, http_build_query($form), [
            'X-Request-Id' => self::randomId(),
            'Content-Type' => 'application/x-www-form-urlencoded',
        ], true);
        $clock = $now ?? static fn (): float => microtime(true);
        $this->tokens = $oauthKey === null ? null : new AccessTokens($ask, $workspaceId, $oauthKey, $clock);
    }

    /**
     * Calls any operation of the API document by its `operationId`.
     *
     * @param array<string, string|int> $parameters of the path and the query; the workspace fills in its own
     * @param ?string $idempotencyKey generated unless given, for every operation that accepts one
     * @param array<string, string> $headers
     */
    public function call(
        string $operation,
        array $parameters = [],
        mixed $body = null,
        ?string $idempotencyKey = null,
        array $headers = [],
    ): Reply {
        $row = Operations::TABLE[$operation] ?? throw new \InvalidArgumentException("No operation $operation");
        [$method, , $key, , $names, $isSafe] = $row;
        $path = $this->pathOf($row, $parameters);
        $given = ['X-Request-Id' => self::randomId(), ...$this->fixedHeaders($names, $idempotencyKey), ...$headers];
        $text = null;
        if ($body !== null) {
            // Every body of the interface is an object.
            $text = json_encode($body === [] ? new \stdClass() : $body, JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES);
            $given['Content-Type'] = 'application/json';
        }
        $send = fn (array $more): Reply => $this->patiently($method, $path, $text, [...$given, ...$more], $isSafe);
        $secret = $this->keys[$key] ?? null;
        if ($key === 'none') {
            return $send([]);
        }
        if ($secret !== null) {
            return $send(['Authorization' => 'Basic ' . base64_encode("$this->workspaceId:$secret")]);
        }
        if ($this->tokens === null) {
            throw new \InvalidArgumentException("{$key}Key or oauthKey is needed for $row[1]");
        }
        $token = $this->tokens->get();
        try {
            return $send(['Authorization' => "Bearer $token"]);
        } catch (CarillonError $error) {
            // A token that was revoked elsewhere is replaced, once.
            if ($error->status !== 401) {
                throw $error;
            }
            $this->tokens->forget($token);
            return $send(['Authorization' => 'Bearer ' . $this->tokens->get()]);
        }
    }

    /**
     * Creates and sends a push (v2.1); a retry after a lost response sends once.
     *
     * @param array<string, mixed> $push as the interface spells it; the client adds the workspace and the signature
     * @return Reply its body has `cid`
     */
    public function sendPush(array $push, ?string $idempotencyKey = null): Reply
    {
        if ($this->pushKey === null) {
            throw new \InvalidArgumentException('pushKey is needed to send');
        }
        foreach (['campaignName', 'targetAudience'] as $name) {
            if (!is_string($push[$name] ?? null) || $push[$name] === '') {
                throw new \InvalidArgumentException("$name is required");
            }
        }
        $signature = Signatures::signPush($this->workspaceId, $push['campaignName'], $this->pushKey);
        $reply = $this->call('sendPushV21', [], $push, $idempotencyKey, [
            "X-$this->headerPrefix-PushAPI-Signature" => $signature,
            "X-$this->headerPrefix-Query-Type" => strtolower($push['targetAudience']),
        ]);
        if (!is_array($reply->body) || ($reply->body['status'] ?? null) !== 'Success') {
            throw CarillonError::of($reply->status, $reply->body, $reply->headers, $reply->requestId);
        }
        return $reply;
    }

    /** @param array<string, string|int> $parameters */
    private function pathOf(array $row, array $parameters): string
    {
        $values = ['app_id' => $this->workspaceId, 'workspace_id' => $this->workspaceId, ...$parameters];
        $path = preg_replace_callback('/\{(\w+)\}/', static function (array $found) use ($values): string {
            $value = (string) ($values[$found[1]] ?? '');
            return $value !== '' ? rawurlencode($value) : throw new \InvalidArgumentException("$found[1] is required");
        }, $row[1]);
        $query = array_intersect_key($values, array_flip($row[3]));
        return $query === [] ? $path : $path . '?' . http_build_query($query);
    }

    /** @return array<string, string> */
    private function fixedHeaders(array $names, ?string $idempotencyKey): array
    {
        $headers = [];
        foreach ($names as $starred) {
            $name = str_replace('*', $this->headerPrefix, $starred);
            $value = match (true) {
                $starred === 'Idempotency-Key' => $idempotencyKey ?? self::randomId(),
                str_ends_with($starred, 'APPKEY') => $this->workspaceId,
                str_ends_with($starred, 'DBNAME') => $this->dbName,
                default => null,
            };
            if ($value !== null) {
                $headers[$name] = $value;
            }
        }
        return $headers;
    }

    /** Retries after 429 always, and after failures if a repeat changes nothing. */
    private function patiently(string $method, string $path, ?string $text, array $headers, bool $isSafe): Reply
    {
        for ($repeats = 0; ; $repeats++) {
            try {
                return $this->send($method, $path, $text, $headers);
            } catch (CarillonError $error) {
                $isRetried = $error->status === 429 || ($isSafe && in_array($error->status, self::FAILURES, true));
                if (!$isRetried || $repeats === self::MAX_REPEATS) {
                    throw $error;
                }
                // At least a half of a time that doubles, so that clients that failed together do not return together.
                $backoff = self::FIRST_WAIT_SECONDS * 2 ** $repeats * (0.5 + ($this->jitter)() / 2);
                $asked = $error->retryAfterSeconds;
                ($this->sleep)($asked === null ? $backoff : (float) min($asked, self::MAX_WAIT_SECONDS));
            }
        }
    }

    private function send(string $method, string $path, ?string $text, array $headers): Reply
    {
        $found = [];
        $lines = array_map(static fn ($name, $value) => "$name: $value", array_keys($headers), $headers);
        $curl = curl_init($this->baseUrl . $path);
        curl_setopt_array($curl, [
            CURLOPT_CUSTOMREQUEST => $method,
            // Without "Expect:", curl waits for permission before it sends a large body.
            CURLOPT_HTTPHEADER => [...$lines, 'Expect:'],
            CURLOPT_RETURNTRANSFER => true,
            // A redirection would take the credentials to another host; it is an error of status 3xx instead.
            CURLOPT_FOLLOWLOCATION => false,
            CURLOPT_TIMEOUT => $this->timeoutSeconds,
            CURLOPT_HEADERFUNCTION => static function ($_, string $line) use (&$found): int {
                if (str_contains($line, ':')) {
                    [$name, $value] = explode(':', $line, 2);
                    $found[strtolower($name)] = trim($value);
                }
                return strlen($line);
            },
        ]);
        if ($text !== null) {
            curl_setopt($curl, CURLOPT_POSTFIELDS, $text);
        }
        $answer = curl_exec($curl);
        $requestId = $headers['X-Request-Id'];
        if (!is_string($answer)) {
            $message = 'The service was not reached, or did not reply: ' . curl_error($curl);
            throw new CarillonError(0, 'unreachable', $message, $requestId);
        }
        $status = curl_getinfo($curl, CURLINFO_RESPONSE_CODE);
        $body = json_decode($answer, true);
        if ($status < 200 || $status > 299) {
            throw CarillonError::of($status, $body, $found, $requestId);
        }
        if ($answer !== '' && json_last_error() !== JSON_ERROR_NONE) {
            throw new CarillonError($status, 'foreign', "HTTP $status without JSON", $requestId);
        }
        $warnings = self::splitWarnings($found[strtolower("x-$this->headerPrefix-warning")] ?? '');
        return new Reply($status, $body, $found, $warnings, $requestId);
    }

    /**
     * The service separates warnings by a comma and a space; names in quotation marks may contain both.
     *
     * @return list<string>
     */
    private static function splitWarnings(string $text): array
    {
        preg_match_all('/(?:"(?:[^"\\\\]|\\\\.)*"|[^,"]|,(?! ))+/u', $text, $found);
        return array_values(array_filter(array_map('trim', $found[0]), static fn ($warning) => $warning !== ''));
    }

    private static function randomId(): string
    {
        return bin2hex(random_bytes(16));
    }
}
