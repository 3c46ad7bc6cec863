/**
 * What `npm run demo` and its like need before they can start: the packages, the generated Prisma client and the
 * build, each made only where it is missing or stale. Runs before anything is installed, so with Node's own modules
 * alone; tells what it does on standard error, since standard output may be somebody's JSON.
 *
 * Exit codes: 0 ready; 1 the generator or the build failed; 2 Node is too old; 3 npm ci failed; 4 stopped.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { constants } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const NODE_MIN = [20, 19];
const INSTALL_MAX_MS = 10 * 60_000;
const STEP_MAX_MS = 5 * 60_000;
const WAIT_MAX_MS = 20 * 60_000;
/** Reasons stand at the beginning (a usage fault, the compiler's first complaint) or at the end. */
const FIRST_LINES_SHOWN = 6;
const LAST_LINES_SHOWN = 8;

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const installed = join(root, 'node_modules', '.package-lock.json');
const generated = join(root, 'src', 'postgres', 'generated', 'client.ts');
const dist = join(root, 'dist');
const stamp = join(dist, '.bootstrap.json');

const steps = [
  {
    isStale: packagesAreStale,
    message: 'Installing the packages (npm ci), about a minute',
    failure: 'npm ci failed; nothing can run without the packages',
    exitCode: 3,
    run: installPackages,
  },
  {
    isStale: clientIsStale,
    message: 'Generating the Prisma client',
    failure: 'the Prisma client could not be generated',
    exitCode: 1,
    run: generateClient,
  },
  {
    isStale: buildIsStale,
    message: 'Building',
    failure: 'the build failed',
    exitCode: 1,
    run: build,
  },
];

process.exitCode = await bootstrap().catch((error) => {
  say(`Cannot go on: ${error.message}`);
  return 1;
});

async function bootstrap() {
  if (isOlder(process.versions.node, NODE_MIN)) {
    say(`Billonce needs Node ${NODE_MIN.join('.')} or newer; this is Node ${process.versions.node}.`);
    return 2;
  }
  if (!steps.some((step) => step.isStale())) return 0;

  mkdirSync(dist, { recursive: true });
  // Here and not above: a Node that is too old shall read the sentence, and not trip over newer syntax.
  const { takeLock } = await import('./lock-file.mjs');
  const lock = await takeLock(join(dist, '.bootstrap.lock'), {
    waitMaxMs: WAIT_MAX_MS,
    onWait: (pid) => say(`Waiting for process ${pid}, which is installing or building here`),
  });
  try {
    for (const step of steps) {
      if (!step.isStale()) continue; // somebody else did it while we waited
      say(step.message);
      const { status, signal, output } = await step.run(lock);
      if (signal) return 4;
      if (status === 0) continue;
      say(`Cannot go on: ${step.failure} (exit ${status}). It said:\n${excerpt(output)}`);
      return step.exitCode;
    }
    return 0;
  } finally {
    lock.release();
  }
}

function excerpt(output) {
  const lines = output.split('\n').filter((line) => !/^(npm error)?\s*$/.test(line));
  if (lines.length <= FIRST_LINES_SHOWN + LAST_LINES_SHOWN) return lines.join('\n');
  return [...lines.slice(0, FIRST_LINES_SHOWN), '…', ...lines.slice(-LAST_LINES_SHOWN)].join('\n');
}

/**
 * Compares what was installed with what the lock file asks for, instead of their dates: a checkout touches the one,
 * and an installation without the development packages is newer and still not enough.
 */
function packagesAreStale() {
  const wanted = readPackages(join(root, 'package-lock.json'));
  const present = readPackages(installed);
  if (!wanted || !present) return true;
  return Object.entries(wanted).some(([path, one]) => {
    if (!path.startsWith('node_modules/')) return false;
    const other = present[path];
    if (!other) return !one.optional; // optional: made for another system
    return (
      one.version !== other.version || one.integrity !== other.integrity || !existsSync(join(root, path))
    );
  });
}

function readPackages(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages ?? null;
  } catch {
    return null; // missing, or half written
  }
}

function installPackages(lock) {
  // Until npm is through, nobody may take the folder for a finished one.
  rmSync(installed, { force: true });
  const words = ['ci', '--include=dev', '--include=optional', '--include=peer', '--no-audit', '--no-fund'];
  const environment = Object.fromEntries(
    // `npm run --silent` would leave us without npm's own reasons.
    Object.entries(process.env).filter(
      ([name]) => !/^npm_config_(loglevel|omit|only|production|dry_run)$/i.test(name),
    ),
  );
  const npm = process.env.npm_execpath;
  const [command, first] = npm && basename(npm) === 'npm-cli.js' ? [process.execPath, [npm]] : ['npm', []];
  return run(lock, command, [...first, ...words, '--loglevel=error'], INSTALL_MAX_MS, environment);
}

function clientIsStale() {
  const madeMs = changedMs(generated);
  if (madeMs === null) return existsSync(join(root, 'scripts', 'generate.mjs'));
  return [join(root, 'prisma', 'schema.prisma'), installed].some(
    (source) => (changedMs(source) ?? 0) > madeMs,
  );
}

async function generateClient(lock) {
  const result = await run(lock, process.execPath, [join(root, 'scripts', 'generate.mjs')], STEP_MAX_MS);
  // Also if the generator found that it had nothing to write.
  if (result.status === 0 && existsSync(generated)) utimesSync(generated, new Date(), new Date());
  return result;
}

function buildIsStale() {
  try {
    return (
      JSON.parse(readFileSync(stamp, 'utf8')).sources !== fingerprint() || !existsSync(join(dist, 'src'))
    );
  } catch {
    return true;
  }
}

async function build(lock) {
  const sources = fingerprint(); // before: what is changed meanwhile is built next time
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  rmSync(stamp, { force: true });
  const result = await run(
    lock,
    process.execPath,
    [tsc, '-p', join(root, 'tsconfig.build.json')],
    STEP_MAX_MS,
  );
  if (result.status !== 0) return result;
  removeOrphans();
  writeFileSync(stamp, JSON.stringify({ sources }));
  return result;
}

/** Of everything that the build reads: its place, size and date. */
function fingerprint() {
  const hash = createHash('sha256');
  const configurations = ['tsconfig.json', 'tsconfig.build.json', 'node_modules/typescript/package.json'];
  const files = [...configurations, ...['src', 'workers'].flatMap((folder) => filesIn(folder))];
  for (const file of files.sort()) {
    const { size, mtimeMs } = statSync(join(root, file), { throwIfNoEntry: false }) ?? {};
    hash.update(`${file} ${size} ${mtimeMs}\n`);
  }
  return hash.digest('hex');
}

/** The compiler writes into `dist` and removes nothing; a module that is gone must not be importable for longer. */
function removeOrphans() {
  for (const file of ['src', 'workers'].flatMap((folder) => filesIn(join('dist', folder)))) {
    const source = file.slice('dist/'.length).replace(/\.js(\.map)?$/, '.ts');
    if (/\.js(\.map)?$/.test(file) && !existsSync(join(root, source)))
      rmSync(join(root, file), { force: true });
  }
}

function filesIn(folder) {
  const place = join(root, folder);
  if (!existsSync(place)) return [];
  return readdirSync(place, { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    return entry.isDirectory() ? filesIn(path) : [path];
  });
}

/** Resolves to `{ status, signal, output }`; `signal` names what asked us to stop. */
function run(lock, command, words, limitMs, env = process.env) {
  return new Promise((resolve) => {
    const child = spawn(command, words, {
      cwd: root,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: limitMs,
      shell: process.platform === 'win32' && command === 'npm',
    });
    let output = '';
    let stopped = null;
    const listen = (chunk) => {
      output = (output + chunk).slice(-20_000);
    };
    child.stdout.on('data', listen);
    child.stderr.on('data', listen);
    const stop = (signal) => {
      stopped = signal;
      child.kill(signal);
    };
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
    for (const signal of signals) process.on(signal, stop);
    const finish = (status) => {
      for (const signal of signals) process.off(signal, stop);
      lock.workingChild(null);
      resolve({ status, signal: stopped, output });
    };
    child.on('error', (error) => {
      output += error.message;
      finish(127);
    });
    child.on('close', (code, signal) => finish(code ?? 128 + (constants.signals[signal] ?? 0)));
    if (child.pid !== undefined) lock.workingChild(child.pid);
  });
}

function isOlder(version, [major, minor]) {
  const [ownMajor, ownMinor] = version.split('.').map(Number);
  return ownMajor < major || (ownMajor === major && ownMinor < minor);
}

function changedMs(file) {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? null;
}

function say(line) {
  process.stderr.write(`${line}\n`);
}
