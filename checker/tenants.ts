import { anomaly } from './history.ts';
import type { Anomaly, Call, History } from './history.ts';
import { groupBy } from './values.ts';

/**
 * Nothing of one workspace is in another's answers. What belongs to a workspace are the ids and tokens that only its answers
 * contained first, and everything that its callers named with its word. A refusal may repeat what the caller sent.
 */
export function checkTenants(history: History): Anomaly[] {
  const workspaces = history.lines.filter(({ kind }) => kind === 'workspace');
  const words = new Map(workspaces.map(({ id, word }) => [String(id), String(word)]));
  const owner = new Map<string, string>();
  const leaks: Anomaly[] = [];
  const answered = history.calls.filter(({ reply }) => reply !== undefined).sort((one, other) => one.end - other.end);
  for (const call of answered) {
    const text = JSON.stringify(call.reply);
    const sent = `${call.path} ${JSON.stringify(call.body ?? '')} ${String(call.query)}`;
    for (const [workspace, word] of words) {
      if (workspace === call.workspace || call.status >= 400) continue;
      if (new RegExp(`\\b${word}[ -]`).test(text)) leaks.push(leak(call, `names of ${word}`));
    }
    for (const id of new Set(text.match(/\b[0-9a-f]{24}\b|\bc[ar]t_[\w-]{20,}/g))) {
      const known = owner.get(id);
      if (known === undefined && !sent.includes(id)) owner.set(id, call.workspace);
      if (known !== undefined && known !== call.workspace && call.status < 400) leaks.push(leak(call, `the id ${id}`));
    }
  }
  return [...leaks, ...findStrangeMessages(history, owner)];
}

const leak = ({ number, path, workspace }: Call, what: string): Anomaly =>
  anomaly('tenant', `#${number} ${path} of ${workspace} answered ${what} of another workspace`);

/** Messages of a campaign to a phone of another workspace. */
function findStrangeMessages(history: History, owner: ReadonlyMap<string, string>): Anomaly[] {
  const homes = groupBy(history.devices, ({ address }) => address);
  return history.messages.flatMap(({ campaign, address }) => {
    const from = owner.get(campaign);
    const to = homes.get(address)?.map(({ workspace }) => workspace);
    if (from === undefined || !to || to.includes(from)) return [];
    return [anomaly('tenant', `campaign ${campaign} of ${from} reached ${address} of ${to.join()}`)];
  });
}
