import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import * as limits from '../../../src/domain/limits/campaigns.ts';
import { hashReportSignature, opensReport, signReport } from '../../../src/domain/crypto/signatures.ts';

// printf '%s' 'SHOP|2026-03-01_é.csv.gz|s3cret' | sha256sum
const signature = '21f8d5336bbfbcccc67280ecfd049328da38285c26af1933d15aef49010cccb1';

test('opens a report file by the SHA-256 of workspace, name and secret, joined by pipes (fact 7)', () => {
  expect(signReport({ workspaceId: 'SHOP', name: '2026-03-01_é.csv.gz', secret: 's3cret' })).toBe(signature);
});

test('limits statistics as in fact 7', () => {
  expect(limits).toMatchObject({
    ...{ statsRequestsPerMinute: 100, maxStatsCampaigns: 10, maxStatsDays: 30, maxReportDays: 90, reportFileDays: 7 },
  });
});

test('stores only the SHA-256 of a signature, and opens the file only with the signature', () => {
  const stored = hashReportSignature(signature);
  expect(stored).toEqual(createHash('sha256').update(signature).digest());
  expect(opensReport(signature, stored)).toBe(true);
  for (const other of ['', signature.toUpperCase(), `${signature}0`]) expect(opensReport(other, stored)).toBe(false);
});
