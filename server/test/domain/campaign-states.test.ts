import { describe, expect, test } from 'vitest';
import { campaignStatuses, campaignTransitions, statusAfter } from '../../src/domain/campaigns/campaign.ts';
import { readSchema } from '../dump-schema.ts';

const schema = await readSchema();

/** The words of a constraint of the schema. */
function wordsOf(pattern: RegExp): string[] {
  const found = pattern.exec(schema);
  if (!found) throw new Error(`no constraint like ${pattern.source}`);
  return [...found[1]!.matchAll(/'([A-Z_]+)'::text/g)].map(([, word]) => word!);
}

describe('campaign states (decision D46)', () => {
  test('are those of the table', () => {
    expect(wordsOf(/constraint campaigns_status_check CHECK \(\(status = ANY \((.*)\)\)\)/)).toEqual([
      ...campaignStatuses,
    ]);
  });

  test('have only transitions that the table allows for the kind of campaign', () => {
    const oneTimeOnly = wordsOf(/\(delivery_type = 'ONE_TIME'::text\) OR \(status <> ALL \((.*)\)\)/);
    const recurringOnly = wordsOf(/\(delivery_type <> 'ONE_TIME'::text\) OR \(status <> ALL \((.*)\)\)/);
    expect([oneTimeOnly.length, recurringOnly.length]).toEqual([3, 2]);
    for (const { kind, from, to } of campaignTransitions) {
      const forbidden = kind === 'one-time' ? recurringOnly : oneTimeOnly;
      expect(forbidden, `${kind}: ${from} → ${to}`).not.toContain(from);
      expect(forbidden, `${kind}: ${from} → ${to}`).not.toContain(to);
    }
  });

  test('can all be left by a user action if open, and none if final', () => {
    const state = { kind: 'one-time', hasOccurrence: true } as const;
    expect(statusAfter('resume', { ...state, status: 'PAUSED' })).toBe('SCHEDULED');
    expect(statusAfter('resume', { ...state, status: 'PAUSED', hasOccurrence: false })).toBe('SENDING');
    expect(statusAfter('resume', { ...state, kind: 'recurring', status: 'PAUSED' })).toBe('ACTIVE');
    for (const kind of ['one-time', 'recurring'] as const) {
      for (const action of ['pause', 'resume', 'stop'] as const) {
        for (const status of ['DRAFT', 'SENT', 'RETIRED', 'STOPPED', 'FAILED', 'ARCHIVED'] as const)
          expect(statusAfter(action, { kind, status, hasOccurrence: true }), `${action} ${status}`).toBeUndefined();
      }
    }
  });
});
