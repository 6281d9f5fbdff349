import type { Platform } from '../campaigns/content.ts';
import { tellWaitingCause } from '../delivery/waiting-cause.ts';
import type { Finding } from './finding.ts';

/** What became of what was sent through one provider in the last minutes, of campaigns and of pushes to named users. */
export type ProviderAnswers = {
  platform: Platform;
  /** As people call it: "FCM (Android)". */
  name: string;
  /** Since shortly before the newest of the others. */
  accepted: number;
  /** Messages that wait for another attempt. */
  waiting: { code: string; devices: number }[];
  /** Final, in the last minutes. */
  failures: { outcome: string; code: string; devices: number; advice: string }[];
};

/** As many messages refused and none accepted are no accident of a few addresses. */
const tellingRefusals = 3;
/** Fewer that wait than this beside others that are accepted are not significant. */
const tellingWaits = 20;
const maxWaitingShare = 0.05;

/** How a provider answers: red when it takes nothing at all, although nothing has failed for good. Pure. */
export function judgeAnswers({ platform, name, accepted, waiting, failures }: ProviderAnswers): Finding[] {
  const unserved = waiting
    .filter(({ code }) => tellWaitingCause({ platform, code }).isOfProvider)
    .sort((one, other) => other.devices - one.devices);
  const waits = unserved.reduce((sum, { devices }) => sum + devices, 0);
  if (waits > 0 && (accepted === 0 || isTelling(waits, accepted))) {
    const { code } = unserved[0]!;
    const { words } = tellWaitingCause({ platform, code });
    const many = `${waits.toLocaleString('en')} ${waits === 1 ? 'message waits' : 'messages wait'} for another attempt`;
    return [
      {
        level: accepted === 0 ? 'trouble' : 'attention',
        what: `${name} takes ${accepted === 0 ? 'no message' : 'only a part of the messages'}: ${many}, ${words}.`,
        todo: 'They are tried again by themselves as long as they may live. See whether the provider reports a fault, and whether this machine reaches it.',
        place: { screen: 'deliveries', platform, outcome: 'WAITING', code },
      },
    ];
  }
  const refused = failures.filter(isRefusal);
  const refusals = refused.reduce((sum, { devices }) => sum + devices, 0);
  if (accepted > 0 || refusals < tellingRefusals) return [];
  const { outcome, code, advice } = refused[0]!;
  return [
    {
      level: 'trouble',
      what: `${name} took none of the last ${refusals.toLocaleString('en')} messages, most of them ended with ${code}.`,
      todo: advice,
      place: { screen: 'deliveries', platform, outcome, code },
    },
  ];
}

/** Devices that are gone are no fault, and what was withheld was not sent. */
export function isRefusal({ outcome }: { outcome: string }): boolean {
  return outcome !== 'GONE' && outcome !== 'WITHHELD';
}

function isTelling(waits: number, accepted: number): boolean {
  return waits >= tellingWaits && waits > (accepted + waits) * maxWaitingShare;
}
