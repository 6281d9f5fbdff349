import { homedir, tmpdir } from 'node:os';

/**
 * Gives a process a home where it has none: an account without a name, as containers run programs under, has one only by HOME, and a
 * library that looks for its settings there when it is loaded would end the start. Nothing is written there.
 */
export function ensureHome(environment: NodeJS.ProcessEnv): void {
  try {
    homedir();
  } catch {
    environment.HOME = tmpdir();
  }
}
