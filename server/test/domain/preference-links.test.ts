import { describe, expect, test } from 'vitest';
import { makePreferenceLinks } from '../../src/domain/preference-links.ts';

describe('a link to the preference page', () => {
  const links = makePreferenceLinks(Buffer.alloc(32, 1));
  const now = new Date('2026-03-01T12:00:00Z');
  const subject = {
    ...{ workspaceId: 'w1', bucket: 200, userId: '019d0a1b2c3d4e5f60718293' },
    expiresAt: new Date('2026-03-02T12:00:00Z'),
  };
  const token = links.issue(subject);

  test('opens for its person until it expires', () => {
    expect(links.open(token, now)).toEqual({ ...subject, isExpired: false });
    expect(links.open(token, new Date(subject.expiresAt.getTime() - 1))?.isExpired).toBe(false);
    expect(links.open(token, subject.expiresAt)?.isExpired).toBe(true);
  });

  test('is rejected with any bit changed, cut, lengthened, spelt otherwise, or of another installation', () => {
    const bytes = Buffer.from(token, 'base64url');
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const changed = Buffer.from(bytes);
      changed[bit >> 3]! ^= 1 << (bit & 7);
      expect([bit, links.open(changed.toString('base64url'), now)]).toEqual([bit, undefined]);
    }
    for (const other of ['', 'a', token.slice(0, -1), `${token}A`, `${token}=`, 'x'.repeat(10_000)])
      expect([other, links.open(other, now)]).toEqual([other, undefined]);
    expect(makePreferenceLinks(Buffer.alloc(32, 2)).open(token, now)).toBeUndefined();
  });

  test('does not contain the customer id and is of another form than a report token', () => {
    expect(token.length).toBeLessThan(100);
    expect(Buffer.from(token, 'base64url').toString('latin1')).not.toContain('ada');
  });
});
