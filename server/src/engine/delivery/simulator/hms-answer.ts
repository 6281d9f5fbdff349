import { randomBytes } from 'node:crypto';
import type { SimulatedAnswer } from './simulator-account.ts';

/** Huawei's answer: many refusals come with HTTP 200, and the code says it. */
export function hmsAnswer(...[status, code, msg]: [number, string, string]): Exclude<SimulatedAnswer, 'silence'> {
  return { status, body: { code, msg, requestId: randomBytes(8).toString('hex') } };
}
