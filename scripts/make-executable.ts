/**
 * Makes one executable file that contains a node with everything it needs: Node itself, the server, the console, the
 * documentation and PostgreSQL. It is Node's single executable application with the production folder as an asset; the file
 * scripts/release/executable-main.cjs unpacks and runs it.
 *
 * Usage: npm run executable -- --out <file> [--platform linux-x64|linux-arm64] [--without database] [--program <folder>]. The
 * executable for another platform is assembled from its packages in the lockfile and cannot be run here. `--program` takes a
 * folder that `npm run production -- --without node` made.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { constants, zstdCompressSync } from 'node:zlib';
import { inject } from 'postject';
import { type ExecutablePlatform, executablePlatforms, readNodeOfExecutable } from './release/read-node.ts';

const root = join(import.meta.dirname, '..');
const own = `${process.platform}-${process.arch}`;
const { values } = parseArgs({
  options: {
    out: { type: 'string' },
    platform: { type: 'string', default: own },
    without: { type: 'string', default: '' },
    program: { type: 'string' },
  },
});
const platform = values.platform as ExecutablePlatform;
if (values.out === undefined || !executablePlatforms.includes(platform) || !['', 'database'].includes(values.without)) {
  process.stderr.write(
    `executable: --out <file> [--platform ${executablePlatforms.join('|')}] [--without database] [--program <folder>]\n`,
  );
  process.exit(2);
}
const out = resolve(process.env.INIT_CWD ?? '.', values.out);
mkdirSync(dirname(out), { recursive: true });
const staging = mkdtempSync(`${out}.making-`);
/** Node looks for a blob only if the byte after this text is 1 (Node's documentation, "Single executable applications"). */
const sentinelFuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

try {
  const program = packFolder(values.program ?? makeProgram());
  writeFileSync(join(staging, 'program'), program);
  writeFileSync(join(staging, 'digest'), createHash('sha256').update(program).digest('hex'));
  writeFileSync(join(staging, 'node'), readNodeOfExecutable(platform), { mode: 0o755 });
  // The Node that makes the blob has the version of the one that reads it.
  if (platform === own) copyFileSync(join(staging, 'node'), join(staging, 'blob-node'));
  else writeFileSync(join(staging, 'blob-node'), readNodeOfExecutable(own as ExecutablePlatform), { mode: 0o755 });
  // Debug symbols are a ninth of the size. They stay if binutils are missing or know only another processor.
  if (platform === own) spawnSync('strip', [join(staging, 'node')], { stdio: 'ignore' });
  await injectProgram();
  renameSync(join(staging, 'node'), out);
} finally {
  rmSync(staging, { recursive: true, force: true });
}
process.stdout.write(`${out}\n`);

function makeProgram(): string {
  const folder = join(staging, 'program-folder');
  const without = ['node', ...(values.without === '' ? [] : [values.without])].join(',');
  const script = join(root, 'scripts', 'make-production-folder.ts');
  const words = [script, '--out', folder, '--without', without, '--platform', values.platform];
  execFileSync(process.execPath, ['--disable-warning=ExperimentalWarning', ...words], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return folder;
}

/** The form that executable-main.cjs reads. Sorted by path, so that the same program has the same bytes. */
function packFolder(folder: string): Buffer {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    // The launcher of the folder starts a Node of the machine.
    .filter((entry) => entry.parentPath !== folder || entry.name !== 'carillon')
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      if (!entry.isFile()) throw new Error(`${path} is not a regular file; the executable contains only files`);
      return path;
    })
    .sort();
  const entries = paths.map((path) => {
    const { mode, size } = statSync(path);
    return { path: relative(folder, path), mode: (mode & 0o111) === 0 ? 0o644 : 0o755, size };
  });
  const list = Buffer.from(JSON.stringify(entries));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(list.length);
  const bytes = Buffer.concat([length, list, ...paths.map((path) => readFileSync(path))]);
  const level = { [constants.ZSTD_c_compressionLevel]: 19 };
  return zstdCompressSync(bytes, { params: level });
}

async function injectProgram(): Promise<void> {
  const config = join(staging, 'sea.json');
  const settings = {
    main: join(root, 'scripts', 'release', 'executable-main.cjs'),
    output: join(staging, 'blob'),
    disableExperimentalSEAWarning: true,
    // As the launcher of the production folder.
    execArgv: ['--disable-warning=ExperimentalWarning', '--max-semi-space-size=16'],
    execArgvExtension: 'none',
    assets: { program: join(staging, 'program'), digest: join(staging, 'digest') },
  };
  writeFileSync(config, JSON.stringify(settings));
  execFileSync(join(staging, 'blob-node'), ['--experimental-sea-config', config], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await inject(join(staging, 'node'), 'NODE_SEA_BLOB', readFileSync(join(staging, 'blob')), { sentinelFuse });
}
