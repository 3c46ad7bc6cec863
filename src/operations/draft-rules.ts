/**
 * The rules of a draft that JSON Schema cannot say. They take any value and judge only what has the right shape, so
 * that a draft with a broken field still learns everything else that is wrong with it.
 */
import { findCurrency } from '../billing/currency.ts';
import { HUNDRED, ZERO } from '../billing/decimal.ts';
import { taxGroupKey, taxGroupOf } from '../billing/tax.ts';
import type { Fault } from '../errors.ts';
import { customerRuleFaults } from './customer-input.ts';
import { decimalOf, type Loose, listOf, objectOf } from './input-json.ts';

const METADATA_KEYS_MAX = 50;
const METADATA_KEY_LENGTH_MAX = 40;

export function draftRuleFaults(value: unknown): Fault[] {
  const draft = objectOf(value);
  const exponent = typeof draft.currency === 'string' ? findCurrency(draft.currency)?.exponent : undefined;
  return [
    ...kindFaults(draft.kind),
    ...customerRuleFaults(draft.customer, 'customer.'),
    ...currencyFaults(draft.currency),
    ...listOf(draft.lines).flatMap((line, index) => lineFaults(`lines[${index}]`, objectOf(line), exponent)),
    ...adjustmentFaults('', draft, exponent),
    ...metadataFaults(draft.metadata),
    ...decimalsFaults('controlTotal', draft.controlTotal, exponent),
  ];
}

function kindFaults(kind: unknown): Fault[] {
  if (kind !== 'creditNote') return [];
  const message = 'kind creditNote is not taken in yet: credit notes are made from a finalized invoice';
  return [{ field: 'kind', code: 'unsupported_kind', message }];
}

function currencyFaults(code: unknown): Fault[] {
  if (typeof code !== 'string' || !/^[A-Z]{3}$/.test(code)) return [];
  const currency = findCurrency(code);
  if (!currency) {
    const message = `currency ${code} is no currency of ISO 4217: correct the code`;
    return [{ field: 'currency', code: 'unknown_currency', message }];
  }
  if (!currency.withdrawn) return [];
  const message = `currency ${code} has been withdrawn: bill in the currency that took its place`;
  return [{ field: 'currency', code: 'withdrawn_currency', message }];
}

function lineFaults(field: string, line: Loose, exponent: number | undefined): Fault[] {
  const faults: Fault[] = [];
  if (decimalOf(line.unitPrice)?.lt(ZERO)) {
    const message = 'unitPrice must be 0 or more: give back with a negative quantity, or use discounts';
    faults.push({ field: `${field}.unitPrice`, code: 'negative_price', message });
  }
  if (decimalOf(line.priceBaseQuantity)?.lte(ZERO)) {
    const message = 'priceBaseQuantity must be above 0: leave it out if the price is for one';
    faults.push({ field: `${field}.priceBaseQuantity`, code: 'out_of_range', message });
  }
  faults.push(...percentFaults(`${field}.taxRatePercent`, line.taxRatePercent));
  faults.push(...adjustmentFaults(`${field}.`, line, exponent));
  faults.push(...ownTaxFaults(field, line));
  return faults;
}

/** Discounts and charges of a line or, with an empty prefix, of the invoice. */
function adjustmentFaults(prefix: string, of: Loose, exponent: number | undefined): Fault[] {
  return (['discounts', 'charges'] as const).flatMap((kind) =>
    listOf(of[kind]).flatMap((each, index) =>
      oneAdjustmentFaults(`${prefix}${kind}[${index}]`, kind, each, exponent),
    ),
  );
}

function oneAdjustmentFaults(
  field: string,
  kind: 'discounts' | 'charges',
  value: unknown,
  exponent: number | undefined,
): Fault[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  const { amount, percent, taxRatePercent } = value as Loose;
  const faults: Fault[] = [];
  if ((amount === undefined) === (percent === undefined)) {
    const what = amount === undefined ? 'neither amount nor percent' : 'both amount and percent';
    faults.push({ field, code: 'amount_or_percent', message: `${field} has ${what}: give exactly one` });
  }
  if (decimalOf(amount)?.lt(ZERO)) {
    const other = kind === 'discounts' ? 'charges' : 'discounts';
    const message = `amount must be 0 or more: what works the other way belongs in ${other}`;
    faults.push({ field: `${field}.amount`, code: 'negative_amount', message });
  }
  faults.push(...decimalsFaults(`${field}.amount`, amount, exponent));
  faults.push(...percentFaults(`${field}.percent`, percent));
  faults.push(...percentFaults(`${field}.taxRatePercent`, taxRatePercent));
  return faults;
}

/** A line is taxed as a whole; a discount on it cannot be taxed otherwise. */
function ownTaxFaults(field: string, line: Loose): Fault[] {
  const group = taxGroupKeyOf(line);
  return (['discounts', 'charges'] as const).flatMap((kind) =>
    listOf(line[kind]).flatMap((each, index): Fault[] => {
      const { taxCategory, taxRatePercent } = objectOf(each);
      if (taxCategory === undefined && taxRatePercent === undefined) return [];
      const own = taxGroupKeyOf({ ...line, ...objectOf(each) });
      if (group === null || own === null || own === group) return [];
      const message = 'a discount or charge of a line is taxed like the line: leave its tax fields out';
      return [{ field: `${field}.${kind}[${index}]`, code: 'differing_tax', message }];
    }),
  );
}

function taxGroupKeyOf({ taxCategory, taxRatePercent }: Loose): string | null {
  if (taxCategory !== undefined && typeof taxCategory !== 'string') return null;
  if (taxRatePercent !== undefined && decimalOf(taxRatePercent) === null) return null;
  return taxGroupKey(
    taxGroupOf({
      ...(taxCategory !== undefined && { taxCategory }),
      ...(typeof taxRatePercent === 'string' && { taxRatePercent }),
    }),
  );
}

function percentFaults(field: string, value: unknown): Fault[] {
  const percent = decimalOf(value);
  if (!percent || (percent.gte(ZERO) && percent.lte(HUNDRED))) return [];
  const message = `${field.slice(field.lastIndexOf('.') + 1)} must be from 0 to 100`;
  return [{ field, code: 'out_of_range', message }];
}

function decimalsFaults(field: string, value: unknown, exponent: number | undefined): Fault[] {
  const amount = decimalOf(value);
  if (!amount || exponent === undefined || amount.eq(amount.round(exponent))) return [];
  const name = field.slice(field.lastIndexOf('.') + 1);
  const message =
    exponent === 0
      ? `${name} must be a whole number of units, since its currency has no decimals`
      : `${name} may have the ${exponent} decimals of its currency at most`;
  return [{ field, code: 'too_many_decimals', message }];
}

function metadataFaults(metadata: unknown): Fault[] {
  const keys = Object.keys(objectOf(metadata));
  const faults: Fault[] = [];
  if (keys.length > METADATA_KEYS_MAX) {
    const message = `metadata may have ${METADATA_KEYS_MAX} keys at most`;
    faults.push({ field: 'metadata', code: 'too_many', message });
  }
  // `__proto__` would be lost on the way, since objects have one already.
  if (keys.some((key) => key === '' || key === '__proto__' || key.length > METADATA_KEY_LENGTH_MAX)) {
    const message = `the keys of metadata must have 1 to ${METADATA_KEY_LENGTH_MAX} characters, and none may be __proto__`;
    faults.push({ field: 'metadata', code: 'invalid_key', message });
  }
  return faults;
}
