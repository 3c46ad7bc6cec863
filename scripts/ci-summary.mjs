// Adds up the reports of the suites: prints "N passed, N failed" and exits with 1 unless all passed. A skipped test
// counts as failed, since it looks green; so does a suite without a report, and a step that failed otherwise.
import { existsSync, readFileSync } from 'node:fs';

const [failedSteps, ...files] = process.argv.slice(2);
let passed = 0;
let failed = 0;
for (const file of files) {
  if (!existsSync(file)) {
    process.stderr.write(`There is no report ${file.split('/').at(-1)}: its suite did not run to its end.\n`);
    failed += 1;
    continue;
  }
  const report = JSON.parse(readFileSync(file, 'utf8'));
  const skipped = report.numPendingTests + report.numTodoTests;
  if (skipped > 0) process.stderr.write(`${skipped} tests were skipped.\n`);
  passed += report.numPassedTests;
  failed += report.numFailedTests + skipped;
  // A file that could not be loaded has no tests to fail.
  if (report.numFailedTests === 0) failed += report.numFailedTestSuites;
}
if (passed === 0) failed = Math.max(failed, 1);
failed = Math.max(failed, Number(failedSteps));
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exit(failed === 0 ? 0 : 1);
