import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));
const WAIT_LIMIT_MS = 15_000;

test('a fresh checkout is installed, generated and built; a second run has nothing to do and says nothing', async () => {
  const project = await makeProject();
  const first = await project.bootstrap();
  expect(first).toMatchObject({ exitCode: 0, stdout: '' });
  expect(first.stderr.match(/^(Installing|Generating|Building)/gm)).toEqual([
    'Installing',
    'Generating',
    'Building',
  ]);
  expect(existsSync(project.path('dist/src/main.js'))).toBe(true);
  expect(existsSync(project.path('dist/.bootstrap.lock'))).toBe(false);

  const later = new Date(Date.now() + 60_000);
  await utimes(project.path('package-lock.json'), later, later); // as a checkout does
  expect(await project.bootstrap()).toEqual({ exitCode: 0, stdout: '', stderr: '' });
});

test('development packages are installed under NODE_ENV=production and npm_config_omit=dev too', async () => {
  const project = await makeProject();
  const run = await project.bootstrap({ NODE_ENV: 'production', npm_config_omit: 'dev' });
  expect(run.exitCode).toBe(0);
  expect(existsSync(project.path('node_modules/typescript'))).toBe(true);
});

test('what is stale is made again, and nothing else; the output of a source that is gone is removed', async () => {
  const project = await makeProject();
  await project.write('src/gone.ts', 'export const gone = 1;\n');
  await project.bootstrap();
  expect(existsSync(project.path('dist/src/gone.js'))).toBe(true);
  await rm(project.path('src/gone.ts'));
  await project.write('src/main.ts', "export const main: string = 'changed';\n");
  expect((await project.bootstrap()).stderr).toBe('Building\n');
  expect(await readFile(project.path('dist/src/main.js'), 'utf8')).toContain('changed');
  expect(existsSync(project.path('dist/src/gone.js'))).toBe(false);

  const later = new Date(Date.now() + 500);
  await utimes(project.path('prisma/schema.prisma'), later, later);
  expect((await project.bootstrap()).stderr).toBe('Generating the Prisma client\nBuilding\n');
});

test('an installation that was broken off, lacks a package, was for production or is too old is made again', async () => {
  const project = await makeProject();
  await project.bootstrap();
  const spoil = [
    () => rm(project.path('node_modules/.package-lock.json')),
    () => rm(project.path('node_modules/typescript')),
    () => project.npm('ci', '--omit=dev'),
    () => project.addPackage('right'),
  ];
  for (const step of spoil) {
    await step();
    const run = await project.bootstrap();
    expect(run).toMatchObject({ exitCode: 0, stdout: '' });
    expect(run.stderr).toMatch(/^Installing/);
  }
  expect(existsSync(project.path('node_modules/right'))).toBe(true);
});

test('several at once do each thing once', async () => {
  const project = await makeProject();
  const runs = await Promise.all([project.bootstrap(), project.bootstrap(), project.bootstrap()]);
  expect(runs.map((run) => run.exitCode)).toEqual([0, 0, 0]);
  const said = runs.map((run) => run.stderr).join('');
  for (const step of ['Installing', 'Generating', 'Building']) expect(said.split(step)).toHaveLength(2);
  expect(await project.log()).toEqual(['generate', 'compile']);
});

test('after kill -9 the next one waits for what still works here, and then goes on', async () => {
  const project = await makeProject();
  await project.write('hold', '');
  const killed = project.start();
  await waitUntil(async () => (await project.log()).includes('generate'));
  killed.kill('SIGKILL');
  await once(killed, 'exit');

  const next = project.start();
  const run = finished(next);
  let said = '';
  next.stderr.on('data', (chunk) => {
    said += chunk;
  });
  await waitUntil(
    async () => said === `Waiting for process ${killed.pid}, which is installing or building here\n`,
  );
  expect(await project.log()).toEqual(['generate']);
  await rm(project.path('hold'));
  expect(await run).toMatchObject({ exitCode: 0 });
  expect(existsSync(project.path('dist/.bootstrap.lock'))).toBe(false);
});

test('a lock whose holder is gone is taken over at once', async () => {
  const project = await makeProject();
  const gone = spawn(process.execPath, ['-e', '']);
  await once(gone, 'exit');
  await project.write(
    'dist/.bootstrap.lock',
    JSON.stringify({ pid: gone.pid, child: null, host: hostname() }),
  );
  const run = await project.bootstrap();
  expect(run.exitCode).toBe(0);
  expect(run.stderr).not.toContain('Waiting');
});

test('Ctrl-C ends it with 4 and leaves no lock and no child', async () => {
  const project = await makeProject();
  await project.write('hold', '');
  const child = project.start();
  await waitUntil(async () => (await project.log()).includes('generate'));
  child.kill('SIGINT');
  await once(child, 'exit');
  expect(child.exitCode).toBe(4);
  expect(existsSync(project.path('dist/.bootstrap.lock'))).toBe(false);
  await rm(project.path('hold'));
  expect(await project.bootstrap()).toMatchObject({ exitCode: 0 });
});

test("where npm ci fails, it ends with 3 and npm's own reason, even under npm run --silent", async () => {
  const project = await makeProject();
  await rm(project.path('package-lock.json'));
  const run = await project.bootstrap({ npm_config_loglevel: 'silent' });
  expect(run).toMatchObject({ exitCode: 3, stdout: '' });
  expect(run.stderr).toMatch(/npm ci failed; nothing can run without the packages .*\n(.*\n)*.*package-lock/);
});

test('where the build fails, it ends with 1 and says where, each time anew', async () => {
  const project = await makeProject();
  await project.write('src/main.ts', 'export const main: string = 1;\n');
  for (let times = 0; times < 2; times += 1) {
    const run = await project.bootstrap();
    expect(run.exitCode).toBe(1);
    expect(run.stderr).toMatch(/the build failed .*\n(.*\n)*src\/main\.ts\(1,14\)/);
  }
});

test('an old Node is told so in one sentence', async () => {
  const project = await makeProject();
  const pretend = "data:text/javascript,Object.defineProperty(process.versions,'node',{value:'20.18.3'})";
  const run = await project.bootstrap({ NODE_OPTIONS: `--import="${pretend}"` });
  expect(run).toEqual({
    exitCode: 2,
    stdout: '',
    stderr: 'Billonce needs Node 20.19 or newer; this is Node 20.18.3.\n',
  });
});

/** A small checkout with the real script, the real npm and the real compiler; only the packages are its own. */
async function makeProject() {
  const root = await mkdtemp(join(tmpdir(), 'bootstrap-test-'));
  onTestFinished(() => rm(root, { recursive: true, force: true, maxRetries: 5 }));
  const path = (name: string) => join(root, name);
  const write = async (name: string, content: string) => {
    await mkdir(dirname(path(name)), { recursive: true });
    await writeFile(path(name), content);
  };
  const packages = ['typescript'];
  const writeManifests = async () => {
    const devDependencies = Object.fromEntries(packages.map((name) => [name, `file:vendor/${name}`]));
    const about = { name: 'project', version: '1.0.0' };
    const locked: Record<string, object> = { '': { ...about, devDependencies } };
    for (const name of packages) {
      await write(`vendor/${name}/package.json`, JSON.stringify({ name, version: '1.0.0' }));
      locked[`node_modules/${name}`] = { resolved: `vendor/${name}`, link: true };
      locked[`vendor/${name}`] = { version: '1.0.0', dev: true };
    }
    await write('package.json', JSON.stringify({ ...about, private: true, type: 'module', devDependencies }));
    await write(
      'package-lock.json',
      JSON.stringify({ ...about, lockfileVersion: 3, requires: true, packages: locked }),
    );
  };

  await writeManifests();
  for (const script of ['bootstrap.mjs', 'lock-file.mjs']) {
    await cp(join(REPOSITORY, 'scripts', script), path(`scripts/${script}`), { recursive: true });
  }
  await write('scripts/generate.mjs', GENERATOR);
  await write('vendor/typescript/bin/tsc', compiler(join(REPOSITORY, 'node_modules/typescript/bin/tsc')));
  await write('prisma/schema.prisma', '');
  await write('src/main.ts', "export const main: string = 'first';\n");
  const compilerOptions = { target: 'es2023', module: 'nodenext', types: [], rootDir: '.', outDir: 'dist' };
  await write('tsconfig.build.json', JSON.stringify({ compilerOptions, include: ['src', 'workers'] }));

  const start = (environment: NodeJS.ProcessEnv = {}) => {
    const child = spawn(process.execPath, [path('scripts/bootstrap.mjs')], {
      cwd: tmpdir(), // it knows where it belongs
      env: { ...process.env, npm_config_offline: 'true', ...environment },
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    return child;
  };
  return {
    path,
    write,
    start,
    bootstrap: (environment?: NodeJS.ProcessEnv) => finished(start(environment)),
    npm: (...words: string[]) => finished(spawn('npm', [...words, '--offline'], { cwd: root })),
    async addPackage(name: string) {
      packages.push(name);
      await writeManifests();
    },
    /** What the generator and the compiler did, in order. */
    log: async () =>
      existsSync(path('runs.log')) ? (await readFile(path('runs.log'), 'utf8')).trim().split('\n') : [],
  };
}

const GENERATOR = `
import { appendFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
appendFileSync('runs.log', 'generate\\n');
while (existsSync('hold')) await new Promise((resolve) => setTimeout(resolve, 20));
if (!existsSync('src')) process.exit(1); // the test has given up
mkdirSync('src/postgres/generated', { recursive: true });
writeFileSync('src/postgres/generated/client.ts', 'export const generated = true;\\n');
console.log('The generator is talkative.');
`;

function compiler(real: string): string {
  return `
require('node:fs').appendFileSync('runs.log', 'compile\\n');
import(${JSON.stringify(real)});
`;
}

async function finished(
  child: ChildProcess,
): Promise<{ exitCode: number | null; stdout: string; stderr: string }> {
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    stderr += chunk;
  });
  await once(child, 'close');
  return { exitCode: child.exitCode, stdout, stderr };
}

async function waitUntil(holds: () => Promise<boolean>): Promise<void> {
  const deadlineMs = Date.now() + WAIT_LIMIT_MS;
  while (!(await holds())) {
    if (Date.now() > deadlineMs) throw new Error(`not so within ${WAIT_LIMIT_MS} ms: ${holds}`);
    await pause(20);
  }
}
