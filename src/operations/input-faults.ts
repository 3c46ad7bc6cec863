/** What zod found, as faults that say the remedy. */
import type { z } from 'zod';
import type { Fault } from '../errors.ts';
import { DECIMAL_EXAMPLES } from './input-fields.ts';
import { fieldName, fieldPath } from './input-json.ts';

type Issue = z.core.$ZodIssue;

/** The issues must have been reported with their input (`reportInput`). */
export function faultsOfIssues(issues: readonly Issue[]): Fault[] {
  return issues.flatMap((issue) => {
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => unknownField([...issue.path, key]));
    }
    const { code, predicate } = describeIssue(issue);
    return [{ field: fieldPath(issue.path), code, message: `${fieldName(issue.path)} ${predicate}` }];
  });
}

function unknownField(path: readonly PropertyKey[]): Fault {
  const message = `${fieldName(path)} is not a known field: correct its name or remove it`;
  return { field: fieldPath(path), code: 'unknown_field', message };
}

function describeIssue(issue: Exclude<Issue, { code: 'unrecognized_keys' }>): {
  code: string;
  predicate: string;
} {
  switch (issue.code) {
    case 'invalid_type': {
      const expected = expectedKind(issue.expected, issue.path);
      if (issue.input === undefined) return { code: 'missing', predicate: `is missing: give ${expected}` };
      return {
        code: 'wrong_type',
        predicate: `must be ${expected}, not ${kindOf(issue.input, issue.expected)}`,
      };
    }
    case 'invalid_format':
      return describeFormat(issue.path, issue.input, issue.message);
    case 'invalid_value': {
      const choices = issue.values.map((value) => JSON.stringify(value)).join(' or ');
      return { code: 'not_one_of', predicate: `must be ${choices}` };
    }
    case 'too_small':
    case 'too_big':
      return describeSize(issue);
    default:
      return { code: 'invalid', predicate: `is not valid: ${issue.message}` };
  }
}

function expectedKind(expected: string, path: readonly PropertyKey[]): string {
  const example = decimalExample(path);
  if (example !== null) return `a decimal string such as "${example}"`;
  return EXPECTED_KINDS.get(expected) ?? expected;
}

const EXPECTED_KINDS: ReadonlyMap<string, string> = new Map([
  ['string', 'a string'],
  ['array', 'a list'],
  ['object', 'an object'],
  ['record', 'an object'],
  ['boolean', 'true or false'],
  ['int', 'a whole number'],
  ['number', 'a whole number'],
]);

function kindOf(input: unknown, expected: string): string {
  if (input === null) return 'null';
  if (Array.isArray(input)) return 'a list';
  switch (typeof input) {
    case 'number':
      return expected === 'int' ? String(input) : 'a number';
    case 'boolean':
      return String(input);
    case 'object':
      return 'an object';
    default:
      return `a ${typeof input}`;
  }
}

function describeFormat(path: readonly PropertyKey[], input: unknown, message: string) {
  const example = decimalExample(path);
  if (example === null) return { code: 'invalid_format', predicate: message };
  if (typeof input === 'string' && /^[+-]?\d+(?:\.\d+)?$/.test(input)) {
    return { code: 'too_many_digits', predicate: 'may have 18 digits before and 12 after the point at most' };
  }
  return { code: 'invalid_format', predicate: `must be a decimal string such as "${example}"` };
}

function describeSize(issue: z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig) {
  const limit = issue.code === 'too_big' ? issue.maximum : issue.minimum;
  const bound = issue.code === 'too_big' ? 'at most' : 'at least';
  switch (issue.origin) {
    case 'string':
      if (limit === 1 && issue.code === 'too_small')
        return { code: 'too_short', predicate: 'must not be empty' };
      return {
        code: issue.code === 'too_big' ? 'too_long' : 'too_short',
        predicate: `must have ${bound} ${limit} characters`,
      };
    case 'array':
      return {
        code: issue.code === 'too_big' ? 'too_many' : 'too_few',
        predicate: `must have ${bound} ${limit} ${limit === 1 ? 'entry' : 'entries'}`,
      };
    default:
      return { code: 'out_of_range', predicate: `must be ${bound} ${limit}` };
  }
}

/** Null unless the path leads to a decimal string. The keys of `metadata` are the caller's own words. */
function decimalExample(path: readonly PropertyKey[]): string | null {
  if (path[0] === 'metadata') return null;
  return DECIMAL_EXAMPLES.get(String(path.at(-1))) ?? null;
}
