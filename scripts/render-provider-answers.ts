import { evidenceNumbers } from '../server/src/domain/delivery/evidence.ts';
import type { AccountEffect, DeviceEffect } from '../server/src/domain/delivery/evidence.ts';
import { providerNames, providers } from '../server/src/domain/delivery/providers.ts';
import { suspicionHours, suspicionSends, unresolvedHours } from '../server/src/domain/users/devices.ts';
import { unknownCase } from '../server/src/domain/unknown-case.ts';
import type { AnswerRules, Meaning } from '../server/src/providers/answer-rules.ts';
import { descriptors } from '../server/src/providers/registry.ts';
import { probeMilliseconds } from '../server/src/engine/governor/provider-evidence.ts';

type Table = (head: string[], rows: string[][]) => string;

/** The sections of docs/provider-answers.md: the responses of each provider, and the thresholds of the evidence rules. */
export function renderProviderAnswers(table: Table): Record<string, string> {
  const answers = (rules: AnswerRules): string =>
    table(
      ['HTTP status', 'Code', 'Concerns', 'What happens', 'Why'],
      Object.values(rules).map(({ status, code, meaning, reason }) => [
        status,
        code,
        concernOf(meaning),
        effectOf(meaning),
        reason,
      ]),
    );
  const sections = providerNames.map(
    (name) => `## ${providers[name].names.short}\n\n${answers(descriptors[name].answers)}`,
  );
  return {
    'provider-answers': sections.join('\n\n'),
    'evidence-numbers': table(['Number', 'Value'], numbers()),
  };
}

function concernOf({ about }: Meaning): string {
  switch (about) {
    case 'device':
      return 'the device';
    case 'account':
      return 'the credential';
    case 'message':
      return 'the message';
    case 'ambiguous':
      return '**ambiguous**';
    default:
      return unknownCase(about);
  }
}

function effectOf(meaning: Meaning): string {
  switch (meaning.about) {
    case 'device':
      return meaning.effect === 'drop'
        ? 'The device leaves the audience at once.'
        : 'The message waits and is retried. Other devices are not delayed.';
    case 'account':
      return meaning.effect === 'hold'
        ? 'The credential is held at once: its devices wait.'
        : 'The credential pauses: its devices wait as long as the provider asks.';
    case 'message':
      return 'The message is rejected.';
    case 'ambiguous':
      return `If it concerns the device: ${ofDevice[meaning.ifDevice]}. ${ofAccount[meaning.ifAccount]}`;
    default:
      return unknownCase(meaning);
  }
}

const ofDevice: Record<DeviceEffect, string> = {
  suspect: 'the message is rejected, and the device is suspected',
  drop: 'the device leaves the audience at once; while too few others are accepted to be sure, the message is rejected and the device stays',
  reject: 'the message is retried, then rejected',
  wait: 'the message waits and is retried',
};

const ofAccount: Record<AccountEffect, string> = {
  hold: 'If it concerns the credential: the credential is held.',
  'hold at once':
    'If it concerns the credential: the credential is held, already after one answer if no device was accepted lately.',
  pause: 'If it concerns the credential: the credential pauses.',
  none: 'It never holds the credential.',
};

function numbers(): string[][] {
  const { maxEvidenceDevices, minWitnesses, ...given } = evidenceNumbers;
  const percent = (share: number): string => `${Math.round(share * 100)} %`;
  return [
    ['Devices whose last answers are remembered for each key', String(maxEvidenceDevices)],
    ['How long an answer counts', `${given.evidenceHours} hours`],
    [
      `Share of at least ${maxEvidenceDevices} devices that must get an ambiguous code before the credential is held`,
      percent(given.accountShare),
    ],
    ['The same for a code that takes devices out of the audience at once', percent(given.accountShareOfDrops)],
    [
      `With fewer than ${maxEvidenceDevices} devices: all must get it, and this many must have been accepted before`,
      String(minWitnesses),
    ],
    [
      `With fewer than ${maxEvidenceDevices} devices: share that must be accepted before a code concerns one device alone`,
      percent(given.witnessShareOfFew),
    ],
    [
      'Share of more devices that must be accepted before a code takes one out of the audience at once',
      `${percent(given.witnessShareOfDrops)}, and at least ${minWitnesses}`,
    ],
    ['After an accepted device, how long one answer alone holds nothing', `${given.recentSeconds} seconds`],
    ['How often one message of a held credential is sent as a probe', `every ${probeMilliseconds / 1_000} seconds`],
    [
      'Share of the key’s devices that must be accepted before a failed send counts as a strike',
      percent(given.healthyShare),
    ],
    [
      'Strikes, and the time between the first and the last, after which a device leaves the audience',
      `${suspicionSends} sends over at least ${suspicionHours} hours`,
    ],
    ['How often a host name that does not resolve counts as a strike', `once in ${unresolvedHours} hours`],
  ];
}
