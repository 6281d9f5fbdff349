import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { pageChecksumsOff } from '../../src/domain/operations/conditions.ts';
import { placeServer } from '../../src/start/embedded-postgres/binaries.ts';
import { startEmbeddedPostgres } from '../../src/start/embedded-postgres/embedded-postgres.ts';
import { commandAs } from '../../src/start/embedded-postgres/server-account.ts';
import { openDatabase } from '../../src/storage/database.ts';
import { hasPageChecksums, readDatabaseFacts } from '../../src/storage/installation/installation.ts';
import { makeFolder, startNode } from './start-bundle.ts';

test('a new embedded database has page checksums', async () => {
  const folder = await makeFolder();
  try {
    const server = await startEmbeddedPostgres({ folder: folder.path, settings: { fsync: 'off' } });
    const database = openDatabase({ url: server.url, connections: 1, name: 'test' });
    try {
      expect(await hasPageChecksums(database)).toBe(true);
      expect(await readDatabaseFacts(database)).toMatchObject({ hasPageChecksums: true });
    } finally {
      await database.end({ timeoutSeconds: 1 });
      await server.stop();
    }
  } finally {
    await folder.remove();
  }
});

test('a node on an embedded database without page checksums starts, and its log says what to do', async () => {
  const folder = await makeFolder();
  try {
    await makeClusterWithoutChecksums(join(folder.path, 'postgres'));
    const node = startNode(['--data-dir', folder.path, '--port', '0', '--json']);
    expect(await node.firstLine).toContain('"url"');
    node.process.kill('SIGTERM');
    const { code, stderr } = await node.exited;
    expect(code).toBe(0);
    const line = stderr.split('\n').find((each) => each.includes('the embedded database has no page checksums'));
    expect(JSON.parse(line!)).toMatchObject({ level: 40, fault: expect.stringContaining(pageChecksumsOff.todo) });
  } finally {
    await folder.remove();
  }
});

async function makeClusterWithoutChecksums(folder: string): Promise<void> {
  await mkdir(folder, { mode: 0o711 });
  const { binaries, account } = await placeServer(folder);
  const [cluster, passwordFile] = [join(folder, 'cluster'), join(folder, 'superuser')];
  await mkdir(cluster, { mode: 0o700 });
  const passwords = { superuser: 'superuser', application: 'application', app: 'app' };
  await writeFile(join(folder, 'passwords.json'), JSON.stringify(passwords), { mode: 0o600 });
  await writeFile(passwordFile, passwords.superuser, { mode: 0o600 });
  if (account.kind === 'lent') for (const path of [cluster, passwordFile]) await chown(path, account.uid, account.gid);
  const words = [`--pgdata=${cluster}`, '--username=postgres', `--pwfile=${passwordFile}`, '--auth=scram-sha-256'];
  const command = commandAs(account, binaries.initdb, [
    ...words,
    ...['--encoding=UTF8', '--no-locale', '--no-sync', '--no-data-checksums'],
  ]);
  const [code] = (await once(
    spawn(command.file, command.arguments, { ...command.options, stdio: 'ignore' }),
    'close',
  )) as [number];
  expect(code).toBe(0);
}
