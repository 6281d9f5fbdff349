/**
 * The first module of each entry of the bundle. It lets stack traces name the modules instead of the files of the bundle. Node's
 * `--enable-source-maps` would read each map when its file is loaded, a tenth of a second of each start; here the first trace
 * that is read does.
 */
import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { fileURLToPath } from 'node:url';

const maps = new Map<string, SourceMap | undefined>();
const placeInBundle = /(file:\/\/[^\s()]*\/server\/bundle\/[^/:()]+\.js):(\d+):(\d+)/;

Error.prepareStackTrace = (error: Error, sites: NodeJS.CallSite[]) =>
  [describe(error), ...sites.map((site) => `    at ${findModule(String(site))}`)].join('\n');

/** An error may have a `toString` that throws. */
function describe(error: Error): string {
  try {
    return Error.prototype.toString.call(error);
  } catch {
    return '<error>';
  }
}

function findModule(site: string): string {
  const [place, file, line, column] = placeInBundle.exec(site) ?? [];
  if (place === undefined || file === undefined) return site;
  if (!maps.has(file)) maps.set(file, readMap(file));
  const found = maps.get(file)?.findOrigin(Number(line), Number(column));
  if (found === undefined || !('fileName' in found)) return site;
  return site.replace(place, `${new URL(found.fileName, file).href}:${found.lineNumber}:${found.columnNumber}`);
}

function readMap(file: string): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(readFileSync(`${fileURLToPath(file)}.map`, 'utf8')) as SourceMap['payload']);
  } catch {
    return undefined;
  }
}
