import type { PushPreview } from '../app/push/preview-push.ts';
import type { PushAudience } from '../domain/push/push-command.ts';
import { presentPreview } from '../http/campaigns/present-preview.ts';
import { toPlainLine } from './print-table.ts';
import type { ReadPush } from './read-push.ts';
import { unknownCase } from '../domain/unknown-case.ts';

/** What `carillon send --dry-run` shows: each platform with its texts and the number of its devices. */
export function printPreview(
  preview: PushPreview,
  { admitted, command, warnings, json }: ReadPush & { json: true | undefined },
): void {
  const shown = presentPreview(preview).platforms as Record<string, object>;
  const platforms = preview.platforms.map(({ platform, devices, credentials }) => ({
    platform,
    devices: devices ?? null,
    credentials: credentials ?? null,
    ...shown[platform.toLowerCase()],
  }));
  const { kind: timing } = command.timing;
  const { customerId, pending } = preview;
  if (json) {
    const campaign = admitted.name;
    const facts = { campaign, audience: command.audience, timing, customerId, platforms, pending, warnings };
    process.stdout.write(`${JSON.stringify(facts)}\n`);
    return;
  }
  const print = (title: string, value: string): boolean =>
    process.stdout.write(`${title.padEnd(11)}${toPlainLine(value)}\n`);
  print('Campaign', `${admitted.name}${admitted.existing ? ', which exists: its stored settings are used' : ''}`);
  print('Audience', `${tellAudience(command.audience)}, ${devicesOf(preview)}`);
  print('When', timing === 'soon' ? 'at once' : timing);
  for (const reason of pending) print('Note', reason);
  if (customerId !== '') print('Shown for', customerId);
  for (const { platform, devices, credentials, ...rendered } of platforms) {
    process.stdout.write(`\n${platform}, ${tellDevices(devices)}, ${tellCredentials(credentials)}\n`);
    printMembers(rendered);
  }
  process.stdout.write('\nNothing was sent.\n');
}

/** `up to 3 devices (ANDROID 2, IOS 1)`; caps, quiet hours and lost devices make it fewer. */
export function devicesOf({ platforms }: PushPreview): string {
  if (platforms.some(({ devices }) => devices === undefined)) return 'more devices than could be counted in 10 s';
  const sum = platforms.reduce((total, { devices = 0 }) => total + devices, 0);
  const each = platforms.map(({ platform, devices }) => `${platform} ${devices}`);
  return `up to ${tellDevices(sum)} (${each.join(', ')})`;
}

function tellDevices(devices: number | null): string {
  if (devices === null) return 'not counted';
  return `${devices} ${devices === 1 ? 'device' : 'devices'}`;
}

function tellCredentials(credentials: 'simulated' | 'real' | null): string {
  return credentials === null ? 'no credentials: its sends wait for them' : `${credentials} credentials`;
}

function tellAudience(audience: PushAudience): string {
  switch (audience.kind) {
    case 'all-users':
      return 'all users';
    case 'segment':
      return `segment ${audience.name}`;
    case 'user':
      return `users whose ${audience.attribute} is ${audience.values.join(', ')}`;
    default:
      return unknownCase(audience);
  }
}

/** Each value beneath its path; what is empty is left out. */
function printMembers(value: unknown, path = ''): void {
  if (value === undefined || value === null || value === '') return;
  if (typeof value !== 'object') {
    process.stdout.write(`  ${path}: ${toPlainLine(String(value))}\n`);
    return;
  }
  for (const [name, member] of Object.entries(value)) printMembers(member, path === '' ? name : `${path}.${name}`);
}
