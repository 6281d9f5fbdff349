import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { saveProviderCredential } from '../../src/app/credentials.ts';
import { createKey } from '../../src/app/keys/keys.ts';
import { makeEncryption } from '../../src/domain/crypto/encryption.ts';
import type { ProviderCredential } from '../../src/domain/delivery/providers.ts';
import { ensureWebhookSecret } from '../../src/engine/outbox/callbacks.ts';
import { inTransaction } from '../../src/storage/database.ts';
import type { Database } from '../../src/storage/database.ts';
import { createTestDatabase } from '../test-database.ts';
import { insertTestWorkspace } from '../test-workspace.ts';

const at = new Date('2026-03-01T12:00:00Z');

test('no private key, secret of callbacks or push key is in a dump of the database (fault 3.12 check 20)', async () => {
  const bundle = await createTestDatabase();
  try {
    const { database } = bundle;
    const encryption = makeEncryption(Buffer.alloc(32, 7));
    const workspaceId = await insertTestWorkspace(database, at);
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
    const curve = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
    const scalar = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' }).d!;
    const pem = (key: typeof rsa): string => key.export({ type: 'pkcs8', format: 'pem' }).toString();
    const credentials: ProviderCredential[] = [
      {
        provider: 'fcm',
        projectId: 'shown',
        clientEmail: 'shown@example.com',
        privateKeyId: 'hidden-key-id',
        privateKey: pem(rsa),
        simulated: false,
      },
      {
        provider: 'apns',
        teamId: 'TEAM',
        keyId: 'KEY',
        privateKey: pem(curve),
        topic: 'com.example',
        environment: 'production',
        simulated: false,
      },
      {
        provider: 'webpush',
        publicKey: 'shown',
        privateKey: scalar,
        subject: 'mailto:shown@example.com',
        simulated: false,
      },
    ];
    const { secret } = await inTransaction(database, async (tx) => {
      for (const credential of credentials)
        await saveProviderCredential({ encryption }, tx, { workspaceId, appId: 'default', credential, at });
      return createKey({ encryption }, tx, { workspaceId, kind: 'push', name: 'Shop', at });
    });
    const webhookSecret = await ensureWebhookSecret({ database, encryption }, workspaceId);

    const dump = await dumpAll(database);
    expect(dump).toContain('shown@example.com');
    const lineOf = (key: typeof rsa): string => pem(key).split('\n')[1]!;
    const secrets = ['hidden-key-id', 'PRIVATE KEY', lineOf(rsa), lineOf(curve), scalar, secret, webhookSecret];
    for (const text of [...secrets, secret.slice(4), webhookSecret.slice(6)])
      for (const spelling of [
        text,
        Buffer.from(text).toString('hex'),
        Buffer.from(text).toString('base64').replace(/=+$/, ''),
      ])
        expect(dump.includes(spelling), text.slice(0, 12)).toBe(false);
    // The bytes of the scalar and of the secret, in whatever spelling they were given.
    for (const bytes of [Buffer.from(scalar, 'base64url'), Buffer.from(webhookSecret.slice(6), 'base64')])
      expect(dump).not.toContain(bytes.toString('hex'));
  } finally {
    await bundle.drop();
  }
});

/** Every row of every table as text; bytes are hexadecimal there. */
async function dumpAll(database: Database): Promise<string> {
  const tables = await database<{ name: string }[]>`
    select table_name as name from information_schema.tables
    where table_schema = 'public' and table_type = 'BASE TABLE'`;
  const texts: string[] = [];
  for (const { name } of tables)
    texts.push(JSON.stringify(await database`select t::text as row from ${database(name)} as t`));
  return texts.join('\n');
}
