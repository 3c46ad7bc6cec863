/**
 * Generates the Prisma client without the network: `prisma generate` looks for a schema engine binary, would download
 * one, and then does not use it. Naming any file that exists keeps it from looking. Silent when all is well.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const TIMEOUT_MS = 120_000;
const root = dirname(dirname(fileURLToPath(import.meta.url)));

process.exitCode = generate();

function generate() {
  const command = prismaCommand();
  if (!command) return fail('prisma is not installed: run "npm ci" first');
  const result = spawnSync(process.execPath, [command, 'generate', '--no-hints'], {
    cwd: root,
    encoding: 'utf8',
    timeout: TIMEOUT_MS,
    env: {
      ...process.env,
      PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
      CHECKPOINT_DISABLE: '1',
      PRISMA_HIDE_UPDATE_MESSAGE: '1',
      NO_COLOR: '1',
    },
  });
  if (result.status === 0) return 0;
  const reason = result.error?.message ?? `exit ${result.signal ?? result.status}`;
  return fail(
    [`prisma generate failed (${reason})`, result.stdout?.trim(), result.stderr?.trim()]
      .filter(Boolean)
      .join('\n'),
  );
}

function prismaCommand() {
  try {
    const manifest = createRequire(join(root, 'package.json')).resolve('prisma/package.json');
    return join(dirname(manifest), JSON.parse(readFileSync(manifest, 'utf8')).bin.prisma);
  } catch {
    return null;
  }
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  return 1;
}
