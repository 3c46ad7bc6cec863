/**
 * The sandbox gateway as a process: `node dist/src/demo/sandbox-gateway/main.js`. It prints
 * `{"listening":"http://127.0.0.1:4010"}` once it can be called, and ends on SIGTERM when the calls under way have.
 *
 * Environment: SANDBOX_HOST (127.0.0.1), SANDBOX_PORT (4010; 0 takes a free one), SANDBOX_DATA (the journal's file),
 * SANDBOX_SEED, SANDBOX_SLOW_MS (2000), SANDBOX_TEST (1 opens `/v1/test/…`).
 */
import { z } from 'zod';
import { scriptedCalls } from './scripted-calls.ts';
import { buildSandboxGateway } from './server.ts';

const EXIT_CONFIGURATION = 2;
const EXIT_FORCED = 4;
const STOP_MAX_MS = 15_000;

const environmentSchema = z.object({
  SANDBOX_HOST: z.string().default('127.0.0.1'),
  SANDBOX_PORT: z.coerce.number().int().min(0).max(65_535).default(4010),
  SANDBOX_DATA: z.string().optional(),
  SANDBOX_SEED: z.string().optional(),
  SANDBOX_SLOW_MS: z.coerce.number().int().min(0).max(600_000).optional(),
  SANDBOX_TEST: z.string().optional(),
});

try {
  await main();
} catch (error) {
  const message =
    error instanceof z.ZodError ? z.prettifyError(error) : error instanceof Error ? error.message : error;
  process.stderr.write(`the sandbox gateway did not start: ${message}\n`);
  process.exitCode = EXIT_CONFIGURATION;
}

async function main(): Promise<void> {
  const env = environmentSchema.parse(setVariables());
  const app = await buildSandboxGateway({
    dataFile: env.SANDBOX_DATA,
    seed: env.SANDBOX_SEED,
    slowMs: env.SANDBOX_SLOW_MS,
    scripts: env.SANDBOX_TEST === '1' ? scriptedCalls() : undefined,
  });
  const stop = () => {
    setTimeout(() => process.exit(EXIT_FORCED), STOP_MAX_MS).unref();
    app.close().catch((error: unknown) => {
      process.stderr.write(`the sandbox gateway did not stop cleanly: ${error}\n`);
      process.exitCode = 1;
    });
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  const listening = await app.listen({ host: env.SANDBOX_HOST, port: env.SANDBOX_PORT });
  process.stdout.write(`${JSON.stringify({ listening })}\n`);
}

/** An empty variable is an unset one: compose files write `${NAME:-}`. */
function setVariables(): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(process.env).filter(([, value]) => value !== ''));
}
