/**
 * The one error vocabulary. Every ring throws a `BillingError` with a code from this list; each edge has one
 * table that turns a code into its own language (HTTP status in `http/problem.ts`, retry or never again in
 * `bullmq/worker.ts`, exit code in `cli/exit-code.ts`).
 */
export type ErrorCode =
  | 'invalid' // input breaks a rule; `faults` names every field
  | 'not_found'
  | 'conflict' // the state does not allow it, or it was changed meanwhile
  | 'unauthorized'
  | 'forbidden'
  | 'rate_limited'
  | 'configuration' // the environment is wrong; nothing was started
  | 'unavailable' // a service cannot be reached; trying again may help
  | 'lock_busy_too_long' // the invoice's lock stayed busy for longer than a job may wait
  | 'invalid_payload'; // a job's payload does not match its schema; never retried

/** One fault of one field. `field` is a path such as `lines[2].unitPrice`; `message` says the remedy. */
export interface Fault {
  field: string;
  code: string;
  message: string;
}

export class BillingError extends Error {
  override readonly name: string = 'BillingError';
  readonly code: ErrorCode;
  readonly faults: readonly Fault[];

  constructor(
    code: ErrorCode,
    message: string,
    options: { faults?: readonly Fault[]; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.faults = options.faults ?? [];
  }
}

/** True for a `BillingError`, of the given code if one is given. */
export function isBillingError(error: unknown, code?: ErrorCode): error is BillingError {
  return error instanceof BillingError && (code === undefined || error.code === code);
}
