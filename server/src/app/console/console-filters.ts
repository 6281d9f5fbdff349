import { valueMeaningOf } from '../../domain/segments/value-meaning.ts';
import type { Transaction } from '../../storage/database.ts';
import type { SignedIn } from '../accounts/account-dependencies.ts';
import { audit } from '../accounts/audit.ts';
import { changeFilterSegment, createFilterSegment } from '../segments/filter-segments.ts';
import type { FilterSegmentCommand } from '../segments/filter-segments.ts';
import type { SegmentDependencies } from '../segments/segment-dependencies.ts';
import { requireWorkspace } from '../workspaces/require-workspace.ts';
import {
  countFilters,
  describeFilters,
  findUnmatchedValues,
  listFilterAttributes,
  sampleFilters,
  suggestValues,
} from './build-filter.ts';
import type { BuiltFilters } from './build-filter.ts';

type Key = { workspaceId: string; id: string };
type By = { by: SignedIn };
type AskedValues = {
  workspaceId: string;
  attributeName: string;
  attributeType: 'string' | 'double';
  values: readonly string[];
};
type NotedFilter = By & Key & { action: `segment.${string}`; command: FilterSegmentCommand };

/** Segments of filters as the console builds them. */
export function makeConsoleFilters(deps: SegmentDependencies) {
  const { database, clock } = deps;
  const noteFilter = (tx: Transaction, { by, workspaceId, action, id, command }: NotedFilter) =>
    audit(tx, { actor: by, workspaceId, action, object: { id, name: command.name }, at: clock.realNow() });
  return {
    describeFilters: (built: BuiltFilters) => describeFilters(deps, built),
    countFilters: (built: BuiltFilters & { isExact: boolean }) => countFilters(deps, built),
    sampleFilters: (built: BuiltFilters) => sampleFilters(deps, built),
    listAttributes: (workspaceId: string) => listFilterAttributes(deps, workspaceId),
    suggestValues: (asked: Parameters<typeof suggestValues>[1]) => suggestValues(deps, asked),
    findUnmatched: ({ workspaceId, values, ...named }: AskedValues) =>
      findUnmatchedValues(deps, { workspaceId, meaning: valueMeaningOf(named), values }),
    /** @throws ServiceError as createFilterSegment */
    async createFilter({ by, workspaceId, command }: By & { workspaceId: string; command: FilterSegmentCommand }) {
      await requireWorkspace(database, workspaceId);
      return createFilterSegment(deps, {
        workspaceId,
        requestedBy: by.name,
        command,
        source: 'CONSOLE',
        idempotencyKey: undefined,
        rawBody: '',
        note: (tx, id) => noteFilter(tx, { by, workspaceId, action: 'segment.create', id, command }),
      });
    },
    /** @throws ServiceError as changeFilterSegment */
    async changeFilter({ by, command, ...key }: Key & By & { command: FilterSegmentCommand }): Promise<void> {
      await changeFilterSegment(deps, {
        ...key,
        updatedBy: by.name,
        change: () => command,
        note: (tx, id) => noteFilter(tx, { ...key, by, action: 'segment.change', id, command }),
      });
    },
  };
}
