import { ServiceError } from '../../domain/errors.ts';
import type { StandbyState } from '../../storage/installation/database-clock.ts';

// A page of a list takes a third of a second at most; whoever waits for one from a standby that hangs gets the primary's.
const patienceMilliseconds = 5_000;

/**
 * The use cases of the primary, in which those of these names, which only read, are asked of a standby while it keeps up. Whatever
 * fails there is asked of the primary: what was stored a moment ago may not have come to the standby yet, and a long question may
 * be cancelled there for what the primary has removed meanwhile.
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

/** Whether a standby may answer. Not until it was looked at once. */
export type StandbyHealth = {
  isUsable(): boolean;
  /** After a fault: until the next look finds it well. */
  noteFault(): void;
  /** What a look found; undefined when it did not answer. Returns what is wrong, if anything. */
  note(state: StandbyState | undefined): string | undefined;
};

/** Three reports of a node. What lists from a standby may be behind. */
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
  if (!state.isStandby) return 'it is no standby';
  if (state.lagSeconds === undefined) return 'it has replayed nothing yet';
  if (state.lagSeconds > maxLagSeconds) return `it is ${Math.round(state.lagSeconds)} s behind`;
  return undefined;
}
