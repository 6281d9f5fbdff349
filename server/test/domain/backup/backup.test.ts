import { describe, expect, test } from 'vitest';
import {
  ManifestError,
  parseManifest,
  writeManifest,
  findScheduledBackups,
  nameScheduledBackup,
} from '../../../src/domain/operations/backup.ts';
import type { BackupManifest } from '../../../src/domain/operations/backup.ts';

const manifest: BackupManifest = {
  ...{ format: 1, madeAt: new Date('2026-03-01T12:00:00.500Z'), carillonVersion: '0.1.0', postgresVersion: '17.2' },
  ...{ migrations: [{ name: '0001', digest: 'd' }], masterKeyIds: ['aa'], sequences: [] },
  tables: [
    {
      ...{ name: 'users', day: null, columns: ['id'], file: 'users.copy.gz', rows: 1, textBytes: 3, fileBytes: 4 },
      sha256: 'e',
    },
  ],
};

describe('the manifest of a backup', () => {
  test('is parsed as it was written', () => {
    const text = writeManifest(manifest);
    expect(parseManifest(text)).toEqual(manifest);
    expect(text.endsWith('\n}\n')).toBe(true);
    expect(text.split('\n')[1]).toBe('  "format": 1,');
  });

  const refusal = (text: string) => {
    try {
      return parseManifest(text);
    } catch (error) {
      expect(error).toBeInstanceOf(ManifestError);
      return `${(error as Error).name} ${(error as Error).message}`;
    }
  };
  const text = writeManifest(manifest);

  test.each([
    ['torn', text.slice(0, -4), 'is torn'],
    ['changed', text.replace('"rows": 1', '"rows": 2'), 'was changed, or is torn'],
    ['without its digest', text.replace(/,\s*"sha256": "[0-9a-f]{64}"/, ''), 'was changed, or is torn'],
    [
      'of a later version',
      text.replace('"format": 1', '"format": 2'),
      'has the format 2, which this version of Carillon does not know',
    ],
    ['of no version', text.replace('"format": 1', '"format": "2"'), 'was changed, or is torn'],
    ['of an earlier version', text.replace('"format": 1', '"format": 0'), 'was changed, or is torn'],
  ])('is rejected if it is %s', (_what, changed, reason) => {
    expect(changed).not.toBe(text);
    expect(refusal(changed)).toBe(`ManifestError ${reason}`);
  });

  test('is rejected in another format, whatever its digest', () => {
    const other = writeManifest({ ...manifest, format: 0 as 1 });
    expect(refusal(other)).toBe('ManifestError was changed, or is torn');
  });
});

test('names a scheduled backup after its second, and finds it by its name, newest first', () => {
  const name = nameScheduledBackup(new Date('2026-03-01T12:34:56.789Z'));
  expect(name).toBe('carillon-20260301T123456Z');
  const older = 'carillon-20251231T235959Z';
  const others = [
    ...['x', `${name}.part`, `my-${name}`, 'carillon-20261301T000000Z', 'carillon-2026-03-01', name.toLowerCase()],
  ];
  expect(findScheduledBackups([older, ...others, name])).toEqual([
    { name, madeAt: new Date('2026-03-01T12:34:56Z') },
    { name: older, madeAt: new Date('2025-12-31T23:59:59Z') },
  ]);
});
