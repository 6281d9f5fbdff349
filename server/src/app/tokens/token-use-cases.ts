import { setTimeout } from 'node:timers/promises';
import type { Clock } from '../../clock.ts';
import type { Encryption } from '../../domain/encryption.ts';
import type { Random } from '../../domain/tokens/secret.ts';
import type { Database } from '../../storage/pool.ts';
import type { BearerAuthentication, PresentedToken } from './authenticate-token.ts';
import { authenticateToken } from './authenticate-token.ts';
import type { GenerateTokenCommand, IssuedTokens } from './generate-token.ts';
import { generateToken } from './generate-token.ts';
import type { RefreshTokenCommand } from './refresh-token.ts';
import { refreshToken } from './refresh-token.ts';
import type { RevokeTokenCommand } from './revoke-token.ts';
import { revokeToken } from './revoke-token.ts';
import type { TokenDependencies } from './token-dependencies.ts';

export type TokenUseCases = {
  generateToken(command: GenerateTokenCommand): Promise<IssuedTokens>;
  refreshToken(command: RefreshTokenCommand): Promise<IssuedTokens>;
  revokeToken(command: RevokeTokenCommand): Promise<void>;
  authenticateToken(presented: Omit<PresentedToken, 'at'>): Promise<BearerAuthentication>;
};

/** The token use cases with their dependencies bound, for the token routes and the Bearer checks of every family. */
export function makeTokenUseCases(options: {
  database: Database;
  clock: Clock;
  encryption: Encryption;
  /** Waits so many milliseconds; tests give one that only notes them. */
  wait?: (milliseconds: number) => Promise<unknown>;
  random?: Random;
}): TokenUseCases {
  const deps: TokenDependencies = { wait: (milliseconds) => setTimeout(milliseconds), ...options };
  return {
    generateToken: (command) => generateToken(deps, command),
    refreshToken: (command) => refreshToken(deps, command),
    revokeToken: (command) => revokeToken(deps, command),
    authenticateToken: (presented) => authenticateToken(deps, { ...presented, at: deps.clock.now() }),
  };
}
