import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { CommandContext } from './command-context.ts';
import { makeSimulatedSubscription } from '../engine/delivery/simulator/make-simulated-subscription.ts';

export type GenerateUsersOptions = { users: number; out: string };

/**
 * `carillon sandbox generate-users`: writes a file of people with one Android, iOS or web device each, in turn, for
 * `carillon import`. Equal numbers give equal files; the browsers' keys are those the sandbox can decrypt.
 */
export async function generateUsersCommand(context: CommandContext, options: GenerateUsersOptions): Promise<void> {
  const secret = context.secretFor('simulator');
  await pipeline(Readable.from(lines(options.users, secret)), createWriteStream(options.out));
  process.stdout.write(`${JSON.stringify({ file: options.out, users: options.users })}\n`);
}

const linesPerPiece = 500;

function* lines(users: number, secret: Buffer): Generator<string> {
  let piece = '';
  for (let number = 0; number < users; number += 1) {
    piece += `${JSON.stringify(makeUser(number, secret))}\n`;
    if (number % linesPerPiece === linesPerPiece - 1) {
      yield piece;
      piece = '';
    }
  }
  if (piece !== '') yield piece;
}

const platforms = ['ANDROID', 'iOS', 'web'] as const;

function makeUser(number: number, secret: Buffer): object {
  const platform = platforms[number % platforms.length]!;
  return {
    customer_id: `demo-user-${number}`,
    attributes: { u_fn: `User ${number}`, u_em: `user${number}@example.com`, visits: number % 100 },
    devices: [{ device_id: `device-${number}`, platform, push_id: pushIdOf({ platform, number, secret }) }],
  };
}

/** Forms of real tokens: about 150 characters for FCM, 32 bytes in hexadecimal for APNs, a subscription for a browser. */
function pushIdOf({
  platform,
  number,
  secret,
}: {
  platform: (typeof platforms)[number];
  number: number;
  secret: Buffer;
}): string {
  const digest = createHash('sha256').update(`demo-device:${number}`).digest();
  if (platform === 'ANDROID')
    return `${digest.toString('base64url').slice(0, 22)}:APA91b${digest.toString('base64url').repeat(3)}`;
  if (platform === 'iOS') return digest.toString('hex');
  return makeSimulatedSubscription({ secret, id: `demo-${number}` });
}
