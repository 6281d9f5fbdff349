import { ServiceError } from '../../domain/errors.ts';
import type { StandbyState } from '../../storage/installation/database-clock.ts';

// A page of a list takes a third of a second at most. If a standby hangs, the caller gets the primary's page.
const patienceMilliseconds = 5_000;

/**
 * Returns the use cases of the primary, but sends the named ones, which only read, to a standby while it keeps up. Calls that
 * fail there are repeated on the primary: recently stored data may not have reached the standby yet, and a long query may be
 * cancelled there because the primary has removed rows meanwhile.
 */
export function preferStandby<UseCases extends object, Name extends keyof UseCases & string>({
  health,
  primary,
  standby,
  names,
}: {
  health: StandbyHealth;
  primary: UseCases;
  standby: Pick<UseCases, Name>;
  names: readonly Name[];
}): UseCases {
  type Ask = (...question: unknown[]) => Promise<unknown>;
  const entries = names.map((name): [string, Ask] => {
    const [ofPrimary, ofStandby] = [primary[name] as Ask, standby[name] as Ask];
    return [
      name,
      async (...question) => {
        if (!health.isUsable()) return ofPrimary(...question);
        try {
          return await withinPatience(ofStandby(...question));
        } catch (error) {
          if (!(error instanceof ServiceError)) health.noteFault();
          return ofPrimary(...question);
        }
      },
    ];
  });
  return { ...primary, ...(Object.fromEntries(entries) as Partial<UseCases>) };
}

async function withinPatience<Answer>(asked: Promise<Answer>): Promise<Answer> {
  let limit: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    limit = setTimeout(() => reject(new Error('the standby did not answer in time')), patienceMilliseconds);
  });
  try {
    return await Promise.race([asked, late]);
  } finally {
    clearTimeout(limit);
  }
}

/** Decides whether a standby may be used. Not before the first check. */
export type StandbyHealth = {
  isUsable(): boolean;
  /** After a fault: not usable until the next check succeeds. */
  noteFault(): void;
  /** Stores the result of a check; undefined if the standby did not respond. Returns the fault, if there is one. */
  note(state: StandbyState | undefined): string | undefined;
};

/** Three reports of a node. Lists from a standby may be behind by this much. */
export const maxLagSeconds = 15;

export function makeStandbyHealth(): StandbyHealth {
  let isUsable = false;
  return {
    isUsable: () => isUsable,
    noteFault() {
      isUsable = false;
    },
    note(state) {
      const fault = findFault(state);
      isUsable = fault === undefined;
      return fault;
    },
  };
}

function findFault(state: StandbyState | undefined): string | undefined {
  if (state === undefined) return 'it does not answer';
  if (!state.isStandby) return 'it is not a standby';
  if (state.lagSeconds === undefined) return 'it has replayed nothing yet';
  if (state.lagSeconds > maxLagSeconds) return `it is ${Math.round(state.lagSeconds)} s behind`;
  return undefined;
}
