import type { Evidence, Judgement } from '../../../src/engine/governor/provider-evidence.ts';

/** Evidence that holds nothing and knows nothing of other devices, and that says what it was asked. */
export function makeQuietEvidence(judgement: Judgement = { verdict: 'undecided', isHealthy: false }) {
  const asked: unknown[] = [];
  const evidence: Evidence = {
    findHolds: async () => new Map(),
    noteAccepted: (key, deviceIds) => void asked.push({ accepted: key.text, deviceIds }),
    async judge(key, { codes }) {
      asked.push({ judged: key.text, codes: codes.map(({ code }) => code) });
      return new Map(codes.map(({ code }) => [code, judgement]));
    },
    hold: async (key, { code }) => void asked.push({ held: key.text, code }),
    noteFailed: async (key, { code }) => void asked.push({ failed: key.text, code }),
    findAccepted: async () => new Set(),
    findUnproven: async () => new Set(),
    mayProbe: async () => false,
    release: async (key) => void asked.push({ released: key }),
  };
  return { evidence, asked };
}
