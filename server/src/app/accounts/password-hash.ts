import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

// OWASP Password Storage: argon2id with 19 MiB, two passes, one lane; about 15 ms of a core.
const documentedMemoryKibibytes = 19_456;
const passes = 2;
const lanes = 1;
const hashBytes = 32;

const derive = promisify(argon2);

/**
 * Hashes and compares passwords. At most two run at a time per process, so that a flood of attempts exhausts neither memory nor
 * cores. Further calls wait for a free slot.
 */
export function makePasswordHash({
  maxAtOnce = 2,
  memoryKibibytes = documentedMemoryKibibytes,
}: { maxAtOnce?: number; memoryKibibytes?: number } = {}) {
  const prefix = `$argon2id$v=19$m=${memoryKibibytes},t=${passes},p=${lanes}$`;
  const nobodysHash = `${prefix}${'A'.repeat(22)}$${'A'.repeat(43)}`;
  let running = 0;
  const waiting: (() => void)[] = [];

  async function inTurn(work: () => Promise<Buffer>): Promise<Buffer> {
    if (running >= maxAtOnce) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      // Passes the slot to a waiting call, or frees it.
      if (next) next();
      else running -= 1;
    }
  }

  const hashWith = (password: string, { salt, memory, passes: rounds, parallelism, bytes }: Parameters) =>
    inTurn(() =>
      derive('argon2id', {
        message: Buffer.from(password.normalize('NFC'), 'utf8'),
        nonce: salt,
        parallelism,
        tagLength: bytes,
        memory,
        passes: rounds,
      }),
    );

  return {
    /** @returns `$argon2id$v=19$m=…,t=…,p=…$salt$hash` */
    async hash(password: string): Promise<string> {
      const parameters = {
        memory: memoryKibibytes,
        passes,
        parallelism: lanes,
        bytes: hashBytes,
        salt: randomBytes(16),
      };
      const hash = await hashWith(password, parameters);
      return `${prefix}${encode(parameters.salt)}$${encode(hash)}`;
    },

    /** Takes as long for an account that does not exist: `stored` is then undefined, and the result is false. */
    async matches(password: string, stored: string | undefined): Promise<boolean> {
      const parsed = parse(stored ?? nobodysHash);
      const hash = await hashWith(password, { ...parsed, bytes: parsed.hash.length });
      return timingSafeEqual(hash, parsed.hash) && stored !== undefined;
    },
  };
}

export type PasswordHash = ReturnType<typeof makePasswordHash>;

type Parameters = { memory: number; passes: number; parallelism: number; bytes: number; salt: Buffer };

function parse(stored: string) {
  const match = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/.exec(stored);
  if (!match) throw new Error('a stored password hash is not in the PHC form of argon2id');
  const [, memory, rounds, parallelism, salt, hash] = match;
  return {
    memory: Number(memory),
    passes: Number(rounds),
    parallelism: Number(parallelism),
    salt: Buffer.from(salt!, 'base64'),
    hash: Buffer.from(hash!, 'base64'),
  };
}

function encode(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}
