<?php

declare(strict_types=1);

namespace Carillon;

final class Signatures
{
    private const TOLERANCE_SECONDS = 300;

    /** The push signature: SHA-256 of workspace, campaign name and push key, lower-case hexadecimal. */
    public static function signPush(string $workspaceId, string $campaignName, string $pushKey): string
    {
        return hash('sha256', "$workspaceId|$campaignName|$pushKey");
    }

    /**
     * Whether the workspace signed a callback less than five minutes ago.
     *
     * @param array<string, string> $headers in any case
     * @param string $rawBody as it came, byte for byte
     * @param string $secret the workspace's `whsec_…`
     */
    public static function verifyCallback(array $headers, string $rawBody, string $secret, ?int $now = null): bool
    {
        $given = array_change_key_case($headers);
        [$id, $timestamp] = [$given['webhook-id'] ?? '', $given['webhook-timestamp'] ?? ''];
        if ($id === '' || !ctype_digit($timestamp) || abs(($now ?? time()) - (int) $timestamp) > self::TOLERANCE_SECONDS) {
            return false;
        }
        $key = base64_decode(preg_replace('/^whsec_/', '', $secret), true);
        if ($key === false) {
            return false;
        }
        $expected = hash_hmac('sha256', "$id.$timestamp.$rawBody", $key, true);
        // While a secret is replaced there are two signatures; one that fits is enough.
        foreach (explode(' ', $given['webhook-signature'] ?? '') as $signature) {
            $decoded = base64_decode(preg_replace('/^v1,/', '', $signature), true);
            if ($decoded !== false && hash_equals($expected, $decoded)) {
                return true;
            }
        }
        return false;
    }
}
