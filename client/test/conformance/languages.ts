import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..', '..');

/** A client that can be tried: how its program is made ready, and started. */
export type Language = {
  name: string;
  /** Command line that prints the version of the compiler or interpreter. */
  version: string[];
  /** Programs and files that must be there; `undefined` if all are. */
  missing: () => string | undefined;
  /** Compiles into a folder, and returns the command line of the program that performs the steps. */
  prepare: (folder: string) => Promise<{ command: string[]; environment?: Record<string, string> }>;
};

const jars = ['core', 'databind', 'annotations'].map((name) => `/usr/share/java/jackson-${name}.jar`);

export const languages: Language[] = [
  {
    name: 'TypeScript',
    version: [process.execPath, '--version'],
    missing: () => undefined,
    prepare: async () => ({ command: [process.execPath, join(import.meta.dirname, 'perform-steps.ts')] }),
  },
  {
    name: 'Python',
    version: ['python3', '--version'],
    missing: () => missingProgram('python3', '--version'),
    prepare: async () => ({
      command: ['python3', join(root, 'client-python/tests/conformance.py')],
      environment: { PYTHONPATH: join(root, 'client-python/src'), PYTHONDONTWRITEBYTECODE: '1' },
    }),
  },
  {
    name: 'Go',
    version: ['go', 'version'],
    missing: () => missingProgram('go', 'version'),
    prepare: async (folder) => {
      const program = join(folder, 'conformance');
      const cwd = join(root, 'client-go');
      const env = { ...process.env, GOTOOLCHAIN: 'local', GOFLAGS: '-mod=mod', GOPROXY: 'off' };
      compile(['go', 'vet', './...'], { cwd, env });
      compile(['go', 'build', '-o', program, './conformance'], { cwd, env });
      return { command: [program] };
    },
  },
  {
    name: 'PHP',
    version: ['php', '--version'],
    missing: () => missingProgram('php', '--version') ?? missingExtension(),
    prepare: async () => ({ command: ['php', join(root, 'client-php/conformance.php')] }),
  },
  {
    name: 'Ruby',
    version: ['ruby', '--version'],
    missing: () => missingProgram('ruby', '--version'),
    prepare: async () => ({ command: ['ruby', '-W', join(root, 'client-ruby/conformance.rb')] }),
  },
  {
    name: 'Java',
    version: ['javac', '--version'],
    missing: () => missingProgram('javac', '--version') ?? missingJar(),
    prepare: async (folder) => {
      const places = ['src/org/carillon/client', 'conformance'].map((name) => join(root, 'client-java', name));
      const files = await Promise.all(
        places.map(async (place) => (await readdir(place)).map((name) => join(place, name))),
      );
      const path = jars.join(':');
      compile(['javac', '-Xlint:all', '-Werror', '-d', folder, '-cp', path, ...files.flat()], { cwd: root });
      return { command: ['java', '-cp', `${folder}:${path}`, 'Conformance'] };
    },
  },
];

/** Compiles in a folder that is removed afterwards. */
export async function withFolder<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-conformance-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function compile([program, ...words]: string[], options: { cwd: string; env?: NodeJS.ProcessEnv }): void {
  const { status, stdout, stderr } = spawnSync(program!, words, { ...options, encoding: 'utf8', timeout: 300_000 });
  if (status !== 0) throw new Error(`${program} ${words[0]}: ${stdout}${stderr}`);
}

function missingProgram(program: string, word: string): string | undefined {
  return spawnSync(program, [word]).status === 0 ? undefined : `no ${program}`;
}

function missingExtension(): string | undefined {
  return spawnSync('php', ['-r', 'exit(function_exists("curl_init") ? 0 : 1);']).status === 0
    ? undefined
    : 'no extension curl of PHP';
}

function missingJar(): string | undefined {
  const [, databind] = jars;
  return spawnSync('test', ['-r', databind!]).status === 0 ? undefined : 'no Jackson in /usr/share/java';
}
