/**
 * Starts the embedded database in the folder that is named, as a start of the service would, and prints as one JSON
 * line which account and capabilities its process has, or the error that ended it.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '../../src/start/embedded-postgres/embedded-postgres.ts';

export type OpenedPlace = { uid: number; capabilities: string; program: string } | { error: string; message: string };

const [folder] = process.argv.slice(2);
const answer = await open(folder!).catch((error: Error): OpenedPlace => ({
  error: error.name,
  message: error.message,
}));
process.stdout.write(`${JSON.stringify(answer)}\n`);

async function open(folder: string): Promise<OpenedPlace> {
  // Speed only, as in the other tests.
  const server = await startEmbeddedPostgres({ folder, settings: { fsync: 'off', shared_buffers: '16MB' } });
  try {
    const [pid] = (await readFile(join(folder, 'cluster', 'postmaster.pid'), 'utf8')).split('\n');
    const [program] = (await readFile(join(folder, 'cluster', 'postmaster.opts'), 'utf8')).split(' "-D"');
    const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
    const field = (name: string): string => new RegExp(`^${name}:\\s+(\\w+)`, 'm').exec(status)?.[1] ?? '';
    return { uid: Number(field('Uid')), capabilities: field('CapEff').replace(/^0+(?=.)/, ''), program: program! };
  } finally {
    await server.stop();
  }
}
