// Runs inside the single executable (scripts/make-executable.ts). CommonJS and plain JavaScript, because Node runs it before
// any file of Carillon exists on the machine. It unpacks the program once per version into a cache folder of the account and
// runs the command line from there.
'use strict';
const { createHash } = require('node:crypto');
const fs = require('node:fs');
const { enableCompileCache } = require('node:module');
const { homedir, hostname, tmpdir } = require('node:os');
const { dirname, join } = require('node:path');
const { getAsset, getRawAsset } = require('node:sea');
const { pathToFileURL } = require('node:url');
const vm = require('node:vm');
const { zstdDecompressSync } = require('node:zlib');

/** Same as exitCodes.DATA_FOLDER_UNUSABLE (docs/operations.md): a required folder is not writable. */
const unusableFolderCode = 11;
const monthMilliseconds = 30 * 24 * 3_600_000;

const digest = getAsset('digest', 'utf8');
const folder = prepareFolder();
const compiled = join(folder, '.compiled');
enableCompileCache(compiled);
// Threads read only the variable.
process.env.NODE_COMPILE_CACHE ??= compiled;
// The default loader of modules, because `import()` in this script finds only the modules of Node itself.
const importModuleDynamically = vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER;
const entry = pathToFileURL(join(folder, 'server', 'bundle', 'carillon.js')).href;
new vm.Script(`import(${JSON.stringify(entry)})`, { importModuleDynamically }).runInThisContext();

/** Returns the folder of this version, unpacked. Ends the process if no folder is usable. */
function prepareFolder() {
  const base = findBase();
  try {
    fs.mkdirSync(base, { recursive: true, mode: 0o700 });
    const place = join(base, digest.slice(0, 16));
    if (!fs.existsSync(place)) {
      unpack(place);
      removeUnused(base, place);
    }
    checkOwner(base);
    checkOwner(place);
    markInUse(place);
    return place;
  } catch (error) {
    process.stderr.write(
      `carillon: the program cannot be unpacked into ${base} (${error.code ?? error.message}); set XDG_CACHE_HOME to a folder that this account can write.\n`,
    );
    process.exit(unusableFolderCode);
  }
}

/** systemd sets CACHE_DIRECTORY for units with CacheDirectory=. An account without a home gets a folder named by its id. */
function findBase() {
  const { CACHE_DIRECTORY, XDG_CACHE_HOME } = process.env;
  if (CACHE_DIRECTORY) return join(CACHE_DIRECTORY.split(':')[0], 'program');
  if (XDG_CACHE_HOME) return join(XDG_CACHE_HOME, 'carillon');
  const home = findHome();
  return home === undefined ? join(tmpdir(), `carillon-${process.getuid()}`) : join(home, '.cache', 'carillon');
}

function findHome() {
  try {
    const home = homedir();
    fs.accessSync(home, fs.constants.W_OK);
    return home;
  } catch {
    return undefined;
  }
}

/** Another account that could write here could replace the program. */
function checkOwner(path) {
  const { uid, mode } = fs.lstatSync(path);
  if (uid !== process.getuid() && uid !== 0) throw new Error(`${path} belongs to the account ${uid}`);
  if ((mode & 0o022) !== 0) throw new Error(`other accounts can write to ${path}`);
}

/**
 * Writes the packed files next to the final place and renames the folder, so that an interrupted start leaves no half. The
 * asset is: length of the list (4 bytes), the list as JSON, the contents of its files one after the other.
 */
function unpack(place) {
  process.stderr.write(`carillon: unpacking the program into ${place} (once per version) …\n`);
  const packed = Buffer.from(getRawAsset('program'));
  if (createHash('sha256').update(packed).digest('hex') !== digest) throw new Error('the executable is damaged');
  const bytes = zstdDecompressSync(packed);
  const listEnd = 4 + bytes.readUInt32BE(0);
  const entries = JSON.parse(bytes.toString('utf8', 4, listEnd));
  const unfinished = `${place}.${process.pid}`;
  try {
    let at = listEnd;
    for (const { path, mode, size } of entries) {
      const file = join(unfinished, path);
      fs.mkdirSync(dirname(file), { recursive: true, mode: 0o755 });
      fs.writeFileSync(file, bytes.subarray(at, at + size), { mode });
      at += size;
    }
    fs.renameSync(unfinished, place);
  } catch (error) {
    fs.rmSync(unfinished, { recursive: true, force: true });
    // Another start of the same version was faster.
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
  }
}

/** A running process may still load modules from its folder, so a folder with a live process stays. */
function markInUse(place) {
  const mark = join(place, '.in-use', `${hostname()}.${process.pid}`);
  try {
    fs.mkdirSync(dirname(mark), { recursive: true });
    fs.writeFileSync(mark, '');
    process.on('exit', () => fs.rmSync(mark, { force: true }));
  } catch {
    // Owned by root and read-only for this account: nobody removes it, so no mark is needed.
  }
}

function removeUnused(base, current) {
  for (const name of fs.readdirSync(base)) {
    const place = join(base, name);
    if (place !== current && /^[0-9a-f]{16}$/.test(name) && !isInUse(place))
      fs.rmSync(place, { recursive: true, force: true });
  }
}

/** The processes of another host, such as another container with the same folder, are not visible: their marks count for a month. */
function isInUse(place) {
  const marks = join(place, '.in-use');
  if (!fs.existsSync(marks)) return false;
  return fs.readdirSync(marks).some((name) => {
    const dot = name.lastIndexOf('.');
    if (name.slice(0, dot) === hostname()) return isAlive(Number(name.slice(dot + 1)));
    return Date.now() - fs.statSync(join(marks, name)).mtimeMs < monthMilliseconds;
  });
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}
