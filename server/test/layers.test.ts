import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '..', '..');
const source = join(root, 'server', 'src');

type SourceFile = { path: string; text: string; imports: string[] };

function readFiles(folder: string): SourceFile[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !name.includes('node_modules') && !name.endsWith('.d.ts'))
    .map((name) => {
      const path = join(folder, name);
      const text = readFileSync(path, 'utf8');
      const imports = [
        ...text.matchAll(/(?:^|\n)(?:import|export)\b[^;]*?from\s+'([^']+)'|import\('([^']+)'\)|\n?import '([^']+)'/g),
      ].map((match) => (match[1] ?? match[2] ?? match[3])!);
      return { path, text, imports };
    });
}

const files = readFiles(source);

/** Folders that compose a node, the commands and test servers, as main.ts does. */
const composition = ['start', 'cli', 'testing'];

/** Folder below server/src that a file or a relative import belongs to; '' for the composition. */
function layerOf(path: string): string {
  const parts = relative(source, path).split(sep);
  return parts.length === 1 || composition.includes(parts[0]!) ? '' : parts[0]!;
}

function relativeTargets(file: SourceFile): string[] {
  return file.imports.filter((name) => name.startsWith('.')).map((name) => resolve(dirname(file.path), name));
}

function breaches(check: (file: SourceFile) => string[]): string[] {
  return files.flatMap((file) => check(file).map((what) => `${relative(root, file.path)}: ${what}`));
}

/** Besides itself, which layers a layer may import (ARCHITECTURE.md, "Invariants"). `clock.ts` and `log.ts` are types every layer may name. */
const allowed: Record<string, string[]> = {
  fields: [],
  domain: ['fields'],
  storage: ['domain'],
  outgoing: ['domain'],
  providers: ['domain', 'outgoing', 'fields'],
  engine: ['domain', 'storage', 'providers', 'outgoing'],
  app: ['domain', 'storage', 'fields'],
  http: ['domain', 'app', 'fields'],
};
const namedByAll = new Set(['clock.ts', 'log.ts'].map((name) => join(source, name)));

describe('layers', () => {
  test('every file below server/src belongs to a layer or is composition', () => {
    expect([...new Set(files.map((file) => layerOf(file.path)))].sort()).toEqual([
      '',
      'app',
      'domain',
      'engine',
      'fields',
      'http',
      'outgoing',
      'providers',
      'storage',
    ]);
    expect(files.length).toBeGreaterThan(40);
    const atTheTop = files.filter((file) => dirname(file.path) === source).map((file) => relative(source, file.path));
    expect(atTheTop.sort()).toEqual(['clock.ts', 'log.ts', 'main.ts']);
  });

  test('data flows one way: a layer imports only the layers it may', () => {
    const found = breaches((file) => {
      const layer = layerOf(file.path);
      if (layer === '') return [];
      return relativeTargets(file)
        .filter((target) => {
          if (namedByAll.has(target)) return layer === 'domain' || layer === 'fields';
          const other = layerOf(target);
          if (other === layer) return false;
          if (layer === 'app' && target === join(source, 'engine', 'doorbell.ts')) return false;
          return !allowed[layer]!.includes(other);
        })
        .map((target) => `imports ${relative(source, target)}`);
    });
    expect(found).toEqual([]);
  });

  test('a provider knows neither the database nor another provider', () => {
    const providers = join(source, 'providers');
    const names = new Set(readdirSync(providers).filter((name) => existsSync(join(providers, name, 'descriptor.ts'))));
    const providerOf = (path: string): string | undefined => {
      const [folder] = relative(providers, path).split(sep);
      return names.has(folder!) ? folder : undefined;
    };
    const found = breaches((file) => {
      const own = file.path.startsWith(providers + sep) ? providerOf(file.path) : undefined;
      if (own === undefined) return [];
      return relativeTargets(file)
        .filter((target) => {
          const other = target.startsWith(providers + sep) ? providerOf(target) : undefined;
          return layerOf(target) === 'storage' || (other !== undefined && other !== own);
        })
        .map((target) => `imports ${relative(source, target)}`);
    });
    expect(
      files.filter((file) => file.path.startsWith(providers + sep) && providerOf(file.path)).length,
    ).toBeGreaterThan(20);
    expect(found).toEqual([]);
  });

  test('domain and fields do no input or output: of Node they import node:crypto only', () => {
    const found = breaches((file) =>
      ['domain', 'fields'].includes(layerOf(file.path))
        ? file.imports
            .filter((name) => name.startsWith('node:') && name !== 'node:crypto')
            .map((name) => `imports ${name}`)
        : [],
    );
    expect(found).toEqual([]);
  });

  test('Fastify is known to http alone, the database driver to one folder of storage alone', () => {
    const found = breaches((file) => {
      const layer = layerOf(file.path);
      return file.imports.filter(
        (name) =>
          (/^(fastify|@fastify\/)/.test(name) && layer !== 'http') ||
          (/^(pg|pg-.*|postgres)$/.test(name) && !file.path.startsWith(join(source, 'storage', 'postgres'))),
      );
    });
    expect(found).toEqual([]);
  });
});

describe('imports', () => {
  test('contain no circle, even of types or of modules that are loaded lazily', () => {
    const folders = ['server/src', 'client/src', 'console/src', 'bench/src', 'scripts'];
    const all = folders.flatMap((folder) => readFiles(join(root, folder)));
    const targets = new Map(all.map((file) => [file.path, relativeTargets(file)]));
    const circles: string[] = [];
    const done = new Set<string>();
    const walk = (path: string, trail: string[]): void => {
      const begin = trail.indexOf(path);
      if (begin !== -1) circles.push([...trail.slice(begin), path].map((name) => relative(root, name)).join(' → '));
      if (begin !== -1 || done.has(path)) return;
      for (const target of targets.get(path) ?? []) walk(target, [...trail, path]);
      done.add(path);
    };
    for (const { path } of all) walk(path, []);
    expect(all.length).toBeGreaterThan(400);
    expect(circles).toEqual([]);
  });
});

describe('folders', () => {
  // About a dozen (CONTRIBUTING.md, rule 1): more is a second concept.
  const maxFiles = 14;
  // A file for each noun of the server's responses.
  const generated = 'console/src/api/generated';

  test(`a folder of the console holds at most ${maxFiles} source files`, () => {
    const counts = new Map<string, number>();
    for (const { path } of readFiles(join(root, 'console', 'src'))) {
      const folder = relative(root, dirname(path));
      counts.set(folder, (counts.get(folder) ?? 0) + 1);
    }
    expect(counts.size).toBeGreaterThan(10);
    expect([...counts].filter(([folder, count]) => count > maxFiles && folder !== generated)).toEqual([]);
  });
});

describe('invariants of absence', () => {
  /** Code without comments, so that a rule may be named where it is explained. */
  const code = (file: SourceFile) => file.text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1');

  test('SQL is in storage only', () => {
    const found = breaches((file) =>
      layerOf(file.path) !== 'storage' &&
      /`\s*(select|insert into|update|delete from|with)\s[^`]*\s(from|into|set|as)\s/i.test(code(file))
        ? ['holds SQL']
        : [],
    );
    expect(found).toEqual([]);
  });

  test('the environment is read where the settings are, and handed to them by the command line', () => {
    const mayRead = new Set(
      // The last hands it on to the process of the test servers, which reads no setting from it.
      ['start/config.ts', 'cli/command-context.ts', 'testing/create-test-server.ts'].map((name) => join(source, name)),
    );
    expect(
      breaches((file) => (/process\.env\b/.test(code(file)) && !mayRead.has(file.path) ? ['reads process.env'] : [])),
    ).toEqual([]);
  });

  test('time is given: nobody but the clock asks for it', () => {
    const found = breaches((file) =>
      /\bDate\.now\(|new Date\(\)/.test(code(file)) && file.path !== join(source, 'clock.ts')
        ? ['reads the system clock']
        : [],
    );
    expect(found).toEqual([]);
  });

  test('SQL asks for the time in the database clock only', () => {
    const found = breaches((file) =>
      layerOf(file.path) === 'storage' &&
      /\b(now\(\)|current_timestamp|clock_timestamp\(\)|localtimestamp|current_date)/i.test(code(file)) &&
      !file.path.endsWith('database-clock.ts')
        ? ['asks the database for the time']
        : [],
    );
    expect(found).toEqual([]);
    const migrations = readdirSync(join(root, 'server', 'migrations')).map((name) =>
      readFileSync(join(root, 'server', 'migrations', name), 'utf8'),
    );
    for (const text of migrations) expect(text.replace(/--.*$/gm, '')).not.toMatch(/\bnow\(\)|current_timestamp/i);
  });

  test('no status code of ours below http', () => {
    const found = breaches((file) =>
      ['fields', 'domain', 'app', 'storage'].includes(layerOf(file.path)) &&
      /\bstatusCode\b|\breply\b|\.code\(\d{3}\)/.test(code(file))
        ? ['names a status']
        : [],
    );
    expect(found).toEqual([]);
  });

  test('SQL is never built from strings outside the files that must', () => {
    // DDL takes no parameters; these five are given names that were made here, or check them.
    const mayUse = ['installation.ts', 'migrate.ts', 'deliveries.ts', 'events.ts'];
    const found = breaches((file) =>
      /\.unsafe\(/.test(code(file)) && !mayUse.some((name) => file.path.endsWith(name)) ? ['uses unsafe'] : [],
    );
    expect(found).toEqual([]);
  });

  test('no file is named utils, helpers, common or types', () => {
    expect(
      files
        .map((file) => relative(root, file.path))
        .filter((path) => /(^|\/)(utils?|helpers?|common|types)(\.ts|\/)/.test(path)),
    ).toEqual([]);
  });

  test('the console talks through the client only', () => {
    const consoleFiles = readFiles(join(root, 'console', 'src'));
    expect(consoleFiles.flatMap((file) => file.imports.filter((name) => name.includes('/server/')))).toEqual([]);
  });
});
