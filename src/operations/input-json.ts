/** JSON from outside, before its shape is checked. */
import { type Decimal, isDecimal, parseDecimal } from '../billing/decimal.ts';
import type { Fault } from '../errors.ts';

/** A value without the nulls in its objects: in a draft, `null` says the same as leaving the field out. */
export type WithoutNull<T> = T extends readonly (infer Element)[]
  ? WithoutNull<Element>[]
  : T extends object
    ? { [Key in keyof T]: WithoutNull<Exclude<T[Key], null>> }
    : T;

/** Room for 10 000 lines with all of their fields; checking more would cost more memory than a body may. */
const VALUES_MAX = 200_000;
/** One more than any list may have: the shape's own limit names the fault. */
const LIST_LENGTH_MAX = 10_001;
/** A draft has no more levels; what lies deeper cannot be right, and is not looked at. */
const DEPTH_MAX = 6;
const KEY_LENGTH_SHOWN = 60;

/** NUL has no place in Postgres' text; half of a surrogate pair has none in UTF-8. */
const NOT_STORABLE = /[\0\p{Surrogate}]/u;

/** A copy without nulls, and the faults of its texts. Null if there is too much of it to be checked. */
export function readInputJson(input: unknown): { value: unknown; faults: Fault[] } | null {
  const faults: Fault[] = [];
  let values = 0;
  const read = (value: unknown, path: readonly PropertyKey[]): unknown => {
    values += 1;
    if (values > VALUES_MAX) return undefined;
    if (typeof value === 'string' && NOT_STORABLE.test(value)) faults.push(unsupported(path));
    if (typeof value !== 'object' || value === null || path.length >= DEPTH_MAX) return value;
    if (Array.isArray(value)) {
      return value.slice(0, LIST_LENGTH_MAX).map((element, index) => read(element, [...path, index]));
    }
    const members = Object.entries(value).filter(([, member]) => member !== null && member !== undefined);
    return Object.fromEntries(
      members.map(([key, member]) => {
        if (NOT_STORABLE.test(key)) faults.push(unsupported([...path, key]));
        return [key, read(member, [...path, key])];
      }),
    );
  };
  const value = read(input, []);
  return values > VALUES_MAX ? null : { value, faults };
}

function unsupported(path: readonly PropertyKey[]): Fault {
  const message = `${fieldName(path)} must not contain NUL characters or halves of surrogate pairs: remove them`;
  return { field: fieldPath(path), code: 'unsupported_characters', message };
}

/** `['lines', 2, 'unitPrice']` → `lines[2].unitPrice` */
export function fieldPath(path: readonly PropertyKey[]): string {
  return path
    .map((step, index) => {
      if (typeof step === 'number') return `[${step}]`;
      return `${index === 0 ? '' : '.'}${printable(String(step))}`;
    })
    .join('');
}

/** The last step of a path, for a message: `unitPrice`, `emails[1]`. */
export function fieldName(path: readonly PropertyKey[]): string {
  const last = path.findLastIndex((step) => typeof step !== 'number');
  return fieldPath(path.slice(Math.max(last, 0))) || 'the input';
}

function printable(key: string): string {
  return key.slice(0, KEY_LENGTH_SHOWN).replace(/[\p{Cc}\p{Surrogate}]/gu, '\uFFFD');
}

/** An object that nothing is known of yet. */
export type Loose = Readonly<Record<string, unknown>>;

export function objectOf(value: unknown): Loose {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Loose) : {};
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function decimalOf(value: unknown): Decimal | null {
  return typeof value === 'string' && isDecimal(value) ? parseDecimal(value) : null;
}
