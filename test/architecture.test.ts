import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '..');

/** What a ring may import beside itself. An outer ring may import any inner one, siblings never each other. */
const RINGS: Record<string, readonly string[]> = {
  'src/errors.ts': [],
  'src/billing': ['src/errors.ts'],
  'src/jobs': ['src/errors.ts'],
  'src/telemetry': ['src/errors.ts'],
  'src/operations': ['src/errors.ts', 'src/billing', 'src/jobs', 'src/telemetry'],
  ...Object.fromEntries(
    ['postgres', 'bullmq', 'locks', 'gateways', 'email', 'http', 'cli'].map((ring) => [
      `src/${ring}`,
      ['src/errors.ts', 'src/billing', 'src/jobs', 'src/telemetry', 'src/operations'],
    ]),
  ),
};
const EDGES = ['postgres', 'bullmq', 'locks', 'gateways', 'email', 'http', 'cli'].map(
  (ring) => `src/${ring}`,
);
const INSIDE = ['src/errors.ts', 'src/billing', 'src/jobs', 'src/telemetry', 'src/operations', ...EDGES];

/** Files at the root of `src`: what each may know. */
const ROOT_FILES: Record<string, readonly string[]> = {
  'src/config.ts': ['src/errors.ts', 'src/config-reader.ts', 'src/http/api-key.ts'],
  'src/config-reader.ts': ['src/errors.ts', 'src/config.ts'],
  'src/lifetime.ts': [],
  'src/process.ts': ['src/errors.ts'],
  'src/app.ts': [...INSIDE, 'src/config.ts', 'src/lifetime.ts'],
  'src/server.ts': ['src/errors.ts', 'src/app.ts', 'src/config.ts', 'src/process.ts', 'src/http'],
  'src/cli.ts': ['src/errors.ts', 'src/app.ts', 'src/config.ts', 'src/process.ts', 'src/cli'],
  'src/db-migrate.ts': ['src/errors.ts', 'src/config.ts', 'src/process.ts', 'src/postgres'],
  'src/db-diff.ts': ['src/errors.ts', 'src/config.ts', 'src/process.ts', 'src/postgres'],
};
const WORKERS = [
  'src/app.ts',
  'src/config.ts',
  'src/process.ts',
  'src/errors.ts',
  'src/jobs',
  'src/bullmq/worker.ts',
];

const files = [...typescriptFiles('src'), ...typescriptFiles('workers')];

describe('the arrows', () => {
  test('every file belongs to a place that has rules', () => {
    expect(files.filter((file) => placeOf(file) === null)).toEqual([]);
  });

  test('no file imports what its ring may not know', () => {
    const forbidden = files.flatMap((file) =>
      importsOf(file)
        .filter((target) => !isAllowed(file, target))
        .map((target) => `${file} imports ${target}`),
    );
    expect(forbidden).toEqual([]);
  });

  test('a ring that breaks the rules would be found', () => {
    expect(isAllowed('src/billing/invoice.ts', 'src/postgres/invoices.ts')).toBe(false);
    expect(isAllowed('src/http/invoices.ts', 'src/postgres/invoices.ts')).toBe(false);
    expect(isAllowed('workers/main.ts', 'src/postgres/invoices.ts')).toBe(false);
    expect(isAllowed('src/app.ts', 'src/demo/main.ts')).toBe(false);
  });

  test('only config.ts reads the environment', () => {
    const readers = files.filter(
      (file) =>
        !file.startsWith('src/demo/') &&
        !file.startsWith('src/config') &&
        codeOf(file).includes('process.env'),
    );
    // The entries hand the environment on to config.ts as a whole.
    const entries = ['src/cli.ts', 'src/db-diff.ts', 'src/db-migrate.ts', 'src/server.ts', 'workers/main.ts'];
    expect(readers.filter((file) => !entries.includes(file))).toEqual([]);
  });

  test('SQL stands in postgres and in the advisory lock only', () => {
    const speakers = files.filter((file) => /\$(queryRaw|executeRaw)/.test(codeOf(file)));
    const strangers = speakers.filter(
      (file) => !file.startsWith('src/postgres/') && file !== 'src/locks/advisory-lock.ts',
    );
    expect(strangers).toEqual([]);
  });

  test('billing knows no I/O, no clock and no chance', () => {
    const impure =
      /from 'node:(?!crypto)|Date\.now|new Date\(\)|Math\.random|randomUUID|randomBytes|performance\./;
    const strangers = files.filter((file) => file.startsWith('src/billing/') && impure.test(codeOf(file)));
    expect(strangers).toEqual([]);
  });
});

function placeOf(file: string): string | null {
  if (file.startsWith('workers/')) return 'workers';
  if (file.startsWith('src/demo/')) return 'src/demo';
  if (file in ROOT_FILES) return file;
  return Object.keys(RINGS).find((ring) => file === ring || file.startsWith(`${ring}/`)) ?? null;
}

function isAllowed(file: string, target: string): boolean {
  const place = placeOf(file);
  if (place === null) return false;
  if (place === 'src/demo') return true;
  if (target.startsWith('src/demo/')) return false;
  const allowed =
    place === 'workers' ? [...WORKERS, 'workers'] : [...(ROOT_FILES[place] ?? RINGS[place] ?? []), place];
  return allowed.some((inner) => target === inner || target.startsWith(`${inner}/`));
}

function importsOf(file: string): string[] {
  const found = codeOf(file).matchAll(/(?:from|import)\s*\(?\s*'(\.{1,2}\/[^']+)'/g);
  return [...found].map(([, path = '']) => relative(ROOT, resolve(ROOT, dirname(file), path)));
}

function codeOf(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
}

function typescriptFiles(folder: string): string[] {
  return readdirSync(join(ROOT, folder)).flatMap((name) => {
    const path = join(folder, name);
    if (path === join('src', 'postgres', 'generated')) return [];
    if (statSync(join(ROOT, path)).isDirectory()) return typescriptFiles(path);
    return path.endsWith('.ts') ? [path] : [];
  });
}
