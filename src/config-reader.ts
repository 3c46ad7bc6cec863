import type { ConfigPart, Environment } from './config.ts';
import { BillingError, type Fault } from './errors.ts';

/** Reads variables by kind and collects what is wrong with them, so that a person mends all of it in one go. */
export class EnvironmentReader {
  readonly #env: Environment;
  readonly #parts: ReadonlySet<ConfigPart>;
  readonly #faults: Fault[] = [];

  constructor(env: Environment, parts: ReadonlySet<ConfigPart>) {
    this.#env = env;
    this.#parts = parts;
  }

  wants(part: ConfigPart): boolean {
    return this.#parts.has(part);
  }

  text(name: string, fallback: string): string {
    return this.#env[name]?.trim() || fallback;
  }

  choice(name: string, allowed: readonly string[], fallback: string): string {
    const value = this.text(name, fallback);
    if (allowed.includes(value)) return value;
    this.fault(name, `must be ${allowed.length === 1 ? `"${allowed[0]}"` : `one of ${allowed.join(', ')}`}`);
    return fallback;
  }

  integer(name: string, { fallback, min, max }: { fallback: number; min: number; max: number }): number {
    const text = this.text(name, String(fallback));
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    this.fault(name, `must be a whole number from ${min} to ${max}`);
    return fallback;
  }

  pattern(name: string, pattern: RegExp, fallback: string, remedy: string): string {
    const value = this.text(name, fallback);
    if (!pattern.test(value)) this.fault(name, `must be ${remedy}`);
    return value;
  }

  required(part: ConfigPart, name: string, pattern: RegExp, remedy: string): string {
    const value = this.text(name, '');
    if (value === '') this.fault(name, `is missing: ${remedy}`, part);
    else if (!pattern.test(value)) this.fault(name, `must be ${remedy}`, part);
    return value;
  }

  /** The value is never repeated in a fault: it may hold a password. */
  url(part: ConfigPart, name: string, protocols: readonly string[], example: string): string {
    const value = this.text(name, '');
    if (value === '') this.fault(name, `is missing: set it to an address such as ${example}`, part);
    else if (!URL.canParse(value) || !protocols.includes(new URL(value).protocol)) {
      this.fault(name, `must be an address such as ${example}`, part);
    }
    return value;
  }

  /** With a part, the fault counts only if the process asked for that part. */
  fault(name: string, message: string, part?: ConfigPart): void {
    if (part && !this.#parts.has(part)) return;
    this.#faults.push({ field: name, code: 'configuration', message: `${name} ${message}` });
  }

  throwIfFaulty(): void {
    if (this.#faults.length === 0) return;
    const lines = this.#faults.map((fault) => `  ${fault.message}`).join('\n');
    throw new BillingError(
      'configuration',
      `The configuration has ${this.#faults.length === 1 ? 'a fault' : `${this.#faults.length} faults`}:\n${lines}`,
      {
        faults: this.#faults,
      },
    );
  }
}
