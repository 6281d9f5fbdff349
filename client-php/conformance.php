<?php

// Performs the steps that it reads, one line of JSON each, and writes what each came to.

declare(strict_types=1);

use Carillon\CarillonClient;
use Carillon\CarillonError;
use Carillon\Signatures;

spl_autoload_register(static function (string $class): void {
    require __DIR__ . '/src/' . substr($class, strlen('Carillon\\')) . '.php';
});

$client = null;
$now = 1_000_000.0;
$waits = [];

$describe = static fn (CarillonError $error): array => [
    'status' => $error->status,
    'code' => $error->errorCode,
    'message' => $error->getMessage(),
    'requestId' => $error->requestId,
    'retryAfterSeconds' => $error->retryAfterSeconds,
];

while (($line = fgets(STDIN)) !== false) {
    $step = json_decode($line, true, 512, JSON_THROW_ON_ERROR);
    $waits = [];
    $outcome = [];
    try {
        switch ($step['do']) {
            case 'client':
                $client = new CarillonClient(
                    ...$step['options'],
                    now: static function () use (&$now): float {
                        return $now;
                    },
                    sleep: static function (float $seconds) use (&$waits): void {
                        $waits[] = $seconds;
                    },
                    jitter: static fn (): float => 1.0,
                );
                break;
            case 'clock':
                $now += $step['seconds'];
                break;
            case 'signPush':
                $outcome['result'] = Signatures::signPush(...$step['values']);
                break;
            case 'verifyCallback':
                [$headers, $text, $secret] = [$step['headers'], $step['text'], $step['secret']];
                $outcome['result'] = Signatures::verifyCallback($headers, $text, $secret, $step['seconds']);
                break;
            case 'sendPush':
                $reply = $client->sendPush($step['body'], $step['idempotencyKey'] ?? null);
                $outcome['result'] = [...$reply->body, 'warnings' => $reply->warnings];
                break;
            case 'call':
                $reply = $client->call(
                    $step['operation'],
                    $step['parameters'] ?? [],
                    $step['body'] ?? null,
                    $step['idempotencyKey'] ?? null,
                );
                $outcome['result'] = (array) $reply;
                break;
        }
    } catch (CarillonError $error) {
        $outcome['error'] = $describe($error);
    } catch (\InvalidArgumentException $error) {
        $outcome['error'] = ['status' => -1, 'code' => 'local', 'message' => $error->getMessage()];
    }
    echo json_encode([...$outcome, 'waits' => $waits], JSON_THROW_ON_ERROR), "\n";
}
