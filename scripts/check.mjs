// Every check there is, in the order of their cost; ends with the tests, whose count is the last line.
import { spawnSync } from 'node:child_process';

const STEPS = [
  ['format and lint', 'npx', ['biome', 'ci', '--error-on-warnings', '.']],
  ['types', 'npx', ['tsc', '--noEmit']],
  ['dead code and dependencies', 'npx', ['knip']],
  ['tests', 'npx', ['vitest', 'run', ...process.argv.slice(2)]],
];

for (const [name, command, args] of STEPS) {
  process.stderr.write(`\n— ${name}\n`);
  const { status, signal } = spawnSync(command, args, { stdio: 'inherit' });
  if (status !== 0) {
    process.stderr.write(`\ncheck failed at: ${name}${signal ? ` (${signal})` : ''}\n`);
    process.exit(status ?? 1);
  }
}
