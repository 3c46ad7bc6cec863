import { findCurrency } from '../billing/currency.ts';

/** How one customer reads one currency's amounts, and quantities, percents and dates. */
export interface ReceiptFigures {
  amount(minor: bigint): string;
  /** Of a decimal string; a text that is none is shown as it is. */
  quantity(decimal: string): string;
  percent(decimal: string): string;
  count(count: number): string;
  /** Of YYYY-MM-DD, a local date: it is the same day everywhere. */
  date(localDate: string): string;
}

/**
 * Never throws: a receipt in the wrong notation is better than none. An unknown locale is read as English, and a
 * currency that ISO 4217 does not know is shown by its code, in minor units.
 */
export function receiptFigures(locale: string, currency: string): ReceiptFigures {
  const key = `${locale} ${currency}`;
  const known = figuresByKey.get(key);
  if (known) return known;
  const made = makeFigures(supportedLocale(locale), currency);
  // Locales come from outside, so their number is bounded; starting over costs less than book-keeping.
  if (figuresByKey.size >= FIGURES_KEPT_MAX) figuresByKey.clear();
  figuresByKey.set(key, made);
  return made;
}

/** Making the formatters takes longer than writing a receipt with them. */
const figuresByKey = new Map<string, ReceiptFigures>();
const FIGURES_KEPT_MAX = 200;

/** Digits after the point that are shown of quantities and rates. */
const FRACTION_DIGITS_MAX = 12;

function supportedLocale(locale: string): string {
  try {
    return Intl.NumberFormat.supportedLocalesOf([locale])[0] ?? 'en';
  } catch {
    return 'en'; // not even of the form of a locale
  }
}

function makeFigures(locale: string, currency: string): ReceiptFigures {
  const decimals = new Intl.NumberFormat(locale, { maximumFractionDigits: FRACTION_DIGITS_MAX });
  const percents = new Intl.NumberFormat(locale, {
    style: 'percent',
    maximumFractionDigits: FRACTION_DIGITS_MAX,
  });
  // An invoice is dated by the Gregorian calendar, also where the locale's own is another one.
  const dates = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC', calendar: 'gregory' });
  return {
    amount: amountsOf(locale, currency),
    quantity: (decimal) => (DECIMAL.test(decimal) ? decimals.format(exactly(decimal)) : decimal),
    percent: (decimal) => (DECIMAL.test(decimal) ? percents.format(exactly(`${decimal}e-2`)) : `${decimal}%`),
    count: (count) => decimals.format(count),
    date: (localDate) =>
      LOCAL_DATE.test(localDate) ? dates.format(new Date(`${localDate}T00:00:00Z`)) : localDate,
  };
}

function amountsOf(locale: string, currency: string): ReceiptFigures['amount'] {
  const known = findCurrency(currency);
  // Where the point stands cannot be guessed.
  if (!known) return (minor) => `${minor} ${currency} minor units`;
  // `Intl` shows some currencies with fewer decimals than they have.
  const digits = { minimumFractionDigits: known.exponent, maximumFractionDigits: known.exponent };
  const format = new Intl.NumberFormat(locale, { style: 'currency', currency, ...digits });
  return (minor) => format.format(exactly(`${minor}e-${known.exponent}`));
}

/** A string is formatted digit by digit; as a number it would be rounded to 53 bits on the way. */
function exactly(decimal: string): Intl.StringNumericLiteral {
  return decimal as Intl.StringNumericLiteral;
}

const DECIMAL = /^-?\d+(?:\.\d+)?$/;
const LOCAL_DATE = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/;
