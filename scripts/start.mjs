// Starts one of the built processes; without a build it says which command makes one. It never builds or migrates.
import { existsSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';

const [script] = process.argv.splice(2, 1);
const file = fileURLToPath(new URL(`../dist/${script}`, import.meta.url));
if (!existsSync(file)) {
  process.stderr.write(`There is no build: run "npm run build" first (dist/${script} is missing).\n`);
  process.exit(2);
}
process.argv[1] = file;
await import(pathToFileURL(file).href);
