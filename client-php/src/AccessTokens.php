<?php

declare(strict_types=1);

namespace Carillon;

/** One access token: kept, and refreshed before it ends. */
final class AccessTokens
{
    // A token is renewed this long before its end, or at four fifths of a shorter life.
    private const RENEW_BEFORE_SECONDS = 120;
    private const REFRESH_LIFE_SECONDS = 30 * 24 * 3600;

    private string $accessToken = '';
    private float $expiresAt = 0;
    private ?string $refreshToken = null;
    private float $refreshUntil = 0;

    /**
     * @param \Closure(string, array<string, string>): Reply $ask posts a form to a path
     * @param \Closure(): float $now seconds
     */
    public function __construct(
        private readonly \Closure $ask,
        private readonly string $workspaceId,
        private readonly string $oauthKey,
        private readonly \Closure $now,
    ) {
    }

    public function get(): string
    {
        if ($this->expiresAt <= ($this->now)()) {
            $this->renew();
        }
        return $this->accessToken;
    }

    /** A token that was refused though it should be good: the next caller gets another one. */
    public function forget(string $accessToken): void
    {
        if ($accessToken === $this->accessToken) {
            $this->expiresAt = 0;
        }
    }

    private function renew(): void
    {
        if ($this->refreshToken !== null && $this->refreshUntil > ($this->now)()) {
            try {
                $this->take('/v1/oauth/refresh', ['grant_type' => 'refresh_token', 'refresh_token' => $this->refreshToken]);
                return;
            } catch (CarillonError $error) {
                // ER010: revoked, or of a key made anew; the key itself may still be good.
                if ($error->errorCode !== 'ER010') {
                    throw $error;
                }
            }
        }
        $this->take('/v1/oauth/token', ['grant_type' => 'client_credentials', 'client_secret' => $this->oauthKey]);
    }

    /** @param array<string, string> $form */
    private function take(string $path, array $form): void
    {
        $askedAt = ($this->now)();
        $reply = ($this->ask)($path, ['client_id' => $this->workspaceId, ...$form]);
        $data = is_array($reply->body) ? ($reply->body['data'] ?? null) : null;
        if (!is_array($data) || !isset($data['access_token'], $data['expires_in'])) {
            throw new CarillonError($reply->status, 'foreign', 'The response has no access token', $reply->requestId);
        }
        $life = (float) $data['expires_in'];
        $this->accessToken = $data['access_token'];
        $this->expiresAt = $askedAt + max($life - self::RENEW_BEFORE_SECONDS, $life * 0.8);
        if (isset($data['refresh_token'])) {
            $this->refreshToken = $data['refresh_token'];
            $this->refreshUntil = $askedAt + self::REFRESH_LIFE_SECONDS - self::RENEW_BEFORE_SECONDS;
        }
    }
}
