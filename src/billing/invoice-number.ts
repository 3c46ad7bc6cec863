/**
 * The language of invoice numbers: literals with `{YYYY}`, `{YY}`, `{MM}` of the issue date, and one `{SEQ:n}`, the
 * series' counter with n digits at least. The statement that finalizes renders the same in SQL.
 */
import { BillingError } from '../errors.ts';

/** When the counter starts again at 1. */
export type NumberReset = 'never' | 'yearly' | 'monthly';

export type NumberPart =
  | { kind: 'literal'; text: string }
  | { kind: 'year' | 'short-year' | 'month' }
  | { kind: 'sequence'; digitsMin: number };

const FORMAT_LENGTH_MAX = 64;
/** {SEQ:18} is filled by any counter that will ever be. */
const SEQUENCE_DIGITS_MAX = 18;

const TOKEN = /\{(YYYY|YY|MM|SEQ:\d+)\}|([^{}]+)|[{}]/g;
/** What is safe in a file name, a mail's subject and a bank's reference. */
const LITERAL = /^[\p{L}\p{N} ._/#:-]+$/u;

/** @throws BillingError `invalid`, saying which rule of the language is broken */
export function parseNumberFormat(format: string, reset: NumberReset): NumberPart[] {
  if (format.length > FORMAT_LENGTH_MAX) {
    throw invalid(format, `may have ${FORMAT_LENGTH_MAX} characters at most`);
  }
  const parts = partsOf(format);
  const has = (...kinds: NumberPart['kind'][]) => parts.some((part) => kinds.includes(part.kind));
  if (parts.filter((part) => part.kind === 'sequence').length !== 1) {
    throw invalid(format, 'needs exactly one {SEQ:n}');
  }
  // A counter that starts again would give numbers a second time, unless its period is part of them.
  if (reset !== 'never' && !has('year', 'short-year')) {
    throw invalid(format, `needs {YYYY} or {YY}, since its counter starts again ${reset}`);
  }
  if (reset === 'monthly' && !has('month')) {
    throw invalid(format, 'needs {MM}, since its counter starts again monthly');
  }
  return parts;
}

/** `localDate` is YYYY-MM-DD. A counter with more digits than `{SEQ:n}` asks for is written in full. */
export function renderInvoiceNumber(format: string, localDate: string, seq: bigint): string {
  const { year, month } = partsOfDate(localDate);
  const render = (part: NumberPart): string => {
    switch (part.kind) {
      case 'literal':
        return part.text;
      case 'year':
        return year;
      case 'short-year':
        return year.slice(-2);
      case 'month':
        return month;
      case 'sequence':
        return seq.toString().padStart(part.digitsMin, '0');
      default:
        return part satisfies never;
    }
  };
  return partsOf(format).map(render).join('');
}

/** The period that a date's counter belongs to: `''`, `YYYY` or `YYYY-MM`. */
export function periodOf(reset: NumberReset, localDate: string): string {
  const { year, month } = partsOfDate(localDate);
  switch (reset) {
    case 'never':
      return '';
    case 'yearly':
      return year;
    case 'monthly':
      return `${year}-${month}`;
    default:
      return reset satisfies never;
  }
}

function partsOf(format: string): NumberPart[] {
  return [...format.matchAll(TOKEN)].map(([text, token, literal]) => {
    if (literal !== undefined) {
      if (LITERAL.test(literal)) return { kind: 'literal', text: literal };
      throw invalid(format, 'may hold letters, digits, blanks and . _ / # : - beside its tokens');
    }
    if (token === undefined) {
      throw invalid(format, `has a stray ${text}: its tokens are {YYYY}, {YY}, {MM} and {SEQ:n}`);
    }
    return tokenPart(format, token);
  });
}

function tokenPart(format: string, token: string): NumberPart {
  switch (token) {
    case 'YYYY':
      return { kind: 'year' };
    case 'YY':
      return { kind: 'short-year' };
    case 'MM':
      return { kind: 'month' };
    default: {
      const digits = token.slice('SEQ:'.length);
      const digitsMin = Number(digits);
      if (!digits.startsWith('0') && digitsMin <= SEQUENCE_DIGITS_MAX) return { kind: 'sequence', digitsMin };
      throw invalid(format, `needs a {SEQ:n} with n from 1 to ${SEQUENCE_DIGITS_MAX}`);
    }
  }
}

function partsOfDate(localDate: string): { year: string; month: string } {
  const [, year, month] = /^(\d{4})-(0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/.exec(localDate) ?? [];
  if (year === undefined || month === undefined) {
    throw new BillingError('invalid', `${JSON.stringify(localDate)} is no date such as 2026-01-31`);
  }
  return { year, month };
}

function invalid(format: string, rule: string): BillingError {
  const message = `the number format ${JSON.stringify(format.slice(0, FORMAT_LENGTH_MAX))} ${rule}`;
  return new BillingError('invalid', message, {
    faults: [{ field: 'format', code: 'invalid_format', message }],
  });
}
