import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { settings } from '../../src/start/settings-table.ts';
import { exitCodes } from '../../src/start/start-errors.ts';
import { projectFolder, readBlocks, readStopSeconds } from './files.ts';

const variables = new Set<string>(Object.values(settings).map(({ variable }) => variable));

test('every setting that a file of deploy/ or the page on installing names is one', async () => {
  const folder = join(projectFolder, 'deploy');
  const names = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = names.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  expect(files.length).toBeGreaterThan(1);
  let found = 0;
  for (const file of [...files, join(projectFolder, 'docs', 'install.md')])
    for (const [name] of (await readFile(file, 'utf8')).matchAll(/\bCARILLON_[A-Z][A-Z_]*/g)) {
      found += 1;
      // Of a secret the file that holds it.
      expect(variables, `${name} of ${file}`).toContain(name.replace(/_FILE$/, ''));
    }
  expect(found).toBeGreaterThan(3);
});

test('the unit for several nodes is the unit for one, with the settings, the data folder and the name of each', async () => {
  const read = (name: string) => readFile(join(projectFolder, 'deploy', 'systemd', name), 'utf8');
  const withoutHead = (text: string): string => text.slice(text.indexOf('[Unit]'));
  const several = withoutHead(await read('carillon@.service'))
    .replace('EnvironmentFile=/etc/carillon/%i.environment\n', '')
    .replaceAll('-%i', '')
    .replace(' (%i)', '')
    .replace('carillon start\n', 'carillon start --production\n');
  expect(several).toBe(withoutHead(await read('carillon.service')));
});

test('nginx passes to the ports that the page gives the api nodes, and repeats nothing that a node may have stored', async () => {
  const conf = await readFile(join(projectFolder, 'deploy', 'nginx', 'carillon.conf'), 'utf8');
  const settings = readBlocks().get('Settings')!;
  const nodes = /for node in ([^;]+);/.exec(settings)![1]!.split(' ');
  const ports = nodes.flatMap((node, index) => (node.startsWith('api') ? [`808${index + 1}`] : []));
  expect([...conf.matchAll(/server 127\.0\.0\.1:(\d+)\b/g)].map(([, port]) => port)).toEqual(ports);
  expect(/^ *proxy_next_upstream (.+);$/m.exec(conf)![1]).not.toMatch(/non_idempotent/);
  expect(settings).toContain('CARILLON_TRUST_PROXY=1');
});

test('the unit starts nothing again that ended with a code which does not mend by itself, and waits as long as a stop may take', async () => {
  const unit = await readFile(join(projectFolder, 'deploy', 'systemd', 'carillon.service'), 'utf8');
  const known = new Set(Object.values(exitCodes).map(({ code }) => code));
  const codes = /^RestartPreventExitStatus=(.+)$/m.exec(unit)![1]!.split(' ').map(Number);
  for (const code of codes) expect([...known]).toContain(code);
  for (const name of [
    'SETTING_INVALID',
    'SCHEMA_TOO_NEW',
    'SCHEMA_TOO_OLD',
    'MASTER_KEY_WRONG',
    'NOT_FOR_PRODUCTION',
  ] as const)
    expect(codes).toContain(exitCodes[name].code);
  // A database that is away comes back.
  expect(codes).not.toContain(exitCodes.DATABASE_UNREACHABLE.code);
  const stopSeconds = await readStopSeconds();
  expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)![1])).toBeGreaterThan(stopSeconds);
});
