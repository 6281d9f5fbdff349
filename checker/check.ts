import { checkAnswers } from './answers.ts';
import { checkDeliveries } from './deliveries.ts';
import { readHistory } from './history.ts';
import type { Anomaly } from './history.ts';
import { checkCaps, checkLimits } from './limits.ts';
import { checkObjects } from './objects.ts';
import { checkTenants } from './tenants.ts';
import { checkTokens } from './tokens.ts';

export type Checked = { anomalies: Anomaly[]; rig: string; seed: number; counted: Record<string, number> };

/** Judges one history. It reads the text and nothing else. */
export function checkHistory(name: string, text: string): Checked {
  const history = readHistory(name, text);
  const { calls, messages, deliveries, rig, seed } = history;
  const anomalies = [
    checkObjects,
    checkTokens,
    checkLimits,
    checkCaps,
    checkTenants,
    checkDeliveries,
    checkAnswers,
  ].flatMap((check) => check(history));
  const counted = { calls: calls.length, messages: messages.length, deliveries: deliveries.length };
  return { anomalies, rig, seed, counted };
}
