import type { RealClock } from '../../clock.ts';
import type { Role } from '../../domain/accounts/roles.ts';
import type { Database } from '../../storage/database.ts';
import type { Actor } from './audit.ts';
import type { PasswordHash } from './password-hash.ts';

export type AccountDependencies = {
  database: Database;
  clock: RealClock;
  passwords: PasswordHash;
  /** Whose passwords open a session; everyone's unless the company's accounts do. */
  passwordSignIn?: 'everyone' | 'owners';
};

/** What the console's routes and the start need: a sandbox opens its console without an account. */
export type ConsoleAccountDependencies = AccountDependencies & { isSandbox: boolean };

/** Who is signed in. The start link of a sandbox opens the console without an account, as an owner. */
export type SignedIn = Actor & { sessionId: string; email: string | null; role: Role };

/** Where a call to the console comes from. */
export type ConsoleCaller = { address: string; userAgent: string };

export type OpenedSession = { token: string; maxAgeSeconds: number };
