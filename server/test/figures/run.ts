/**
 * One campaign with one worker that is killed (SIGKILL) in its middle, and one with four workers: three locales, four variations and
 * two control groups each, to all users; devices report, users buy, a stream posts the events, a report file is made. Then every number is
 * counted by hand, in SQL, and compared to the unit with the statistics, the report file, the event stream and what
 * devices got. Ends with 1 when any differs, or a share is more than 1 % from what was asked.
 *
 * Usage: npm run test:figures -- --users 100000 --record
 *
 * On one PostgreSQL 15 of Debian's; every node is a separate process. `--record` writes docs/reports/figures-of-nodes.txt.
 */
import { parseArgs } from 'node:util';
import { changeWorkspace, parseControls } from '../../src/app/workspaces.ts';
import { makeCall } from '../rig/caller.ts';
import { openFleet } from '../rig/fleet.ts';
import { startEventReceiver } from '../rig/receivers.ts';
import { readNumbers, startReport } from '../rig/report.ts';
import { nameOf } from './compare-figures.ts';
import { controlPercents, percents, playRound } from './play-round.ts';
import type { Played } from './play-round.ts';

const { values } = parseArgs({
  options: { users: { type: 'string', default: '100000' }, record: { type: 'boolean', default: false } },
});
const command = 'test:figures';
const { users } = readNumbers({ users: values.users }, { command, min: 10_000 });
const { say, write } = startReport(command);
const fleet = await openFleet({ database: 'one', devices: users, apis: 1, network: undefined });
const receiver = await startEventReceiver();
let isBroken = false;
try {
  await prepare();
  const call = makeCall(fleet.apis[0]!.line);
  await call('POST', '/v1/event-streams', { url: receiver.url });
  const shared = { fleet, call, receiver, users };
  for (const round of [
    { name: 'one worker, killed in the middle, and another', workers: 1, isKilled: true },
    { name: 'four workers at one time', workers: 4, isKilled: false },
  ])
    tell(round.name, await playRound({ ...shared, ...round }));
  const { requests, events } = receiver.received();
  say(`\nthe receiver of events was posted ${requests} batches with ${events} events, and refused one in fifty`);
} finally {
  await receiver.close();
  await fleet.close();
}
if (values.record) say(`\nwritten to ${await write('figures-of-nodes.txt')}`);
process.exit(isBroken ? 1 : 0);

/** Languages of the users, some who opted out, a control group of the workspace, and addresses that are gone. */
async function prepare(): Promise<void> {
  const { observer, workspaceId } = fleet;
  await observer`
    update users set attributes = attributes || case get_byte(sha256(id::bytea), 0) % 3
      when 0 then '{"locale": "pt_BR"}'::jsonb when 1 then '{"locale": "de"}' else '{"locale": "fr"}' end`;
  await observer`update devices set locale = null, state = case get_byte(sha256(id::bytea), 1) when 7 then 'OPTED_OUT' else state end`;
  await observer.unsafe('analyze users, devices');
  const controls = parseControls({ controlGroup: String(controlPercents.global) } as never);
  await changeWorkspace({ database: observer }, { id: workspaceId, ...controls } as never);
  const details = [{ '@type': 'type.googleapis.com/google.firebase.fcm.v1.FcmError', errorCode: 'UNREGISTERED' }];
  await fleet.collector.setFaults({
    fcm: { status: 404, body: JSON.stringify({ error: { code: 404, status: 'NOT_FOUND', details } }), device: 'A' },
    apns: { status: 410, body: JSON.stringify({ reason: 'Unregistered' }), device: '0' },
  });
}

function tell(name: string, played: Played): void {
  const { messages, drawn, wrong, numbers } = played;
  const sum = (of: { users: number }[]): number => of.reduce((all, group) => all + group.users, 0);
  const all = sum(drawn);
  const percentOf = (part: number, whole: number): string => `${((part / whole) * 100).toFixed(2)} %`;
  const shareOf = (group: string): number => sum(drawn.filter((own) => own.group === group));
  const treated = drawn.filter(({ group }) => group === null);
  const varied = percents.map((_percent, index) => sum(treated.filter(({ variation }) => variation === index + 1)));
  say(`\n${name}`);
  say(`  sent in ${played.seconds.toFixed(1)} s; messages that reached a device once more: ${played.repeats}`);
  say(
    `  users ${all}, kept out by the workspace's group ${percentOf(shareOf('GLOBAL_CONTROL_GROUP'), all)} (asked ${controlPercents.global} %), ` +
      `by the campaign's ${percentOf(shareOf('CAMPAIGN_CONTROL_GROUP'), all - shareOf('GLOBAL_CONTROL_GROUP'))} of the others (${controlPercents.campaign} %)`,
  );
  say(`  variations ${varied.map((own) => percentOf(own, sum(treated))).join(', ')} (asked ${percents.join(', ')} %)`);
  for (const block of messages.filter(({ locale, variation }) => locale === null && variation === null))
    say(
      `  ${nameOf(block)}: ${['attempted', 'sent', 'bounced', 'impression', 'click', 'closed_click'].map((member) => `${member} ${block[member]}`).join(', ')}`,
    );
  say(`  events, each uuid once: ${played.events}`);
  const shares = [
    ...varied.map((own, index) => own / sum(treated) - percents[index]! / 100),
    shareOf('GLOBAL_CONTROL_GROUP') / all - controlPercents.global / 100,
    shareOf('CAMPAIGN_CONTROL_GROUP') / (all - shareOf('GLOBAL_CONTROL_GROUP')) - controlPercents.campaign / 100,
  ];
  const off = shares.filter((share) => Math.abs(share) >= 0.01).length;
  say(
    `  ${numbers} numbers of the statistics beside their count by hand: ${wrong.length === 0 ? 'all equal, as are report file, event stream and devices' : `${wrong.length} differ`}`,
  );
  say(`  shares within 1 % of what was asked: ${off === 0 ? 'all' : `not ${off}`}`);
  for (const line of wrong.slice(0, 40)) say(`    ${line}`);
  if (wrong.length > 0 || off > 0) isBroken = true;
}
