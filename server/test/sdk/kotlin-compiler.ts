import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { installTools } from '../../../client/test/install-tools.ts';

/** Android's own implementation of `org.json`, as Debian's libandroid-json-java has it. */
export const jsonJar = '/usr/share/java/com.android.json.jar';

export type KotlinCompiler = {
  /** The jar that compiled Kotlin needs to run. */
  library: string;
  compile: (sources: string[], options: { classes: string; classPath: string[] }) => void;
};

/** Returns the compiler, or the reason why there is none. Downloads it once (94 MB unpacked). */
export async function findKotlin(): Promise<KotlinCompiler | string> {
  if (spawnSync('java', ['-version']).status !== 0) return 'no java';
  if (!existsSync(jsonJar)) return `no ${jsonJar}`;
  const modules = await installTools(join(import.meta.dirname, 'kotlin-tools')).catch(() => undefined);
  if (modules === undefined) return 'kotlin-compiler could not be installed';
  const jar = (name: string): string => join(modules, 'kotlin-compiler', 'lib', `${name}.jar`);
  const library = jar('kotlin-stdlib');
  const parts = ['kotlin-compiler', 'kotlinx-coroutines-core-jvm', 'kotlin-script-runtime', 'kotlin-reflect'];
  const runtime = [...parts.map(jar), library, jar('trove4j'), jar('annotations-13.0')].join(':');
  return {
    library,
    compile(sources, { classes, classPath }) {
      const words = [
        ...['-no-stdlib', '-no-reflect', '-Werror', '-jvm-target', '1.8', '-d', classes],
        ...['-classpath', [library, jsonJar, ...classPath].join(':'), ...sources],
      ];
      const main = 'org.jetbrains.kotlin.cli.jvm.K2JVMCompiler';
      const { status, stderr } = spawnSync('java', ['-Xmx800m', '-cp', runtime, main, ...words], {
        ...{ encoding: 'utf8', timeout: 300_000 },
      });
      if (status !== 0) throw new Error(stderr);
    },
  };
}
