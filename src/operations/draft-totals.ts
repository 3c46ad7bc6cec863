/** Rules about what a draft comes to. */
import { findCurrency } from '../billing/currency.ts';
import { parseDecimal } from '../billing/decimal.ts';
import type { ComputedInvoice } from '../billing/draft.ts';
import { formatMoney, MINOR_MAX } from '../billing/money.ts';
import type { Fault } from '../errors.ts';
import { decimalOf, objectOf } from './input-json.ts';

const FIGURES = /^(?:currency|lines|discounts|charges|rounding|pricesIncludeTax)(?:[.[]|$)/;
const WORDS = /\.(?:description|reason)$/;
/** Faults that leave the arithmetic alone. */
const HARMLESS = ['withdrawn_currency', 'unknown_field'];

/** True if no fault touches what the totals are computed from. */
export function figuresAreSound(value: unknown, faults: readonly Fault[]): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return !faults.some(
    ({ field, code }) => FIGURES.test(field) && !WORDS.test(field) && !HARMLESS.includes(code),
  );
}

export function totalFaults(value: unknown, computed: ComputedInvoice): Fault[] {
  const draft = objectOf(value);
  const { code, exponent } = findCurrency(String(draft.currency)) ?? { code: '', exponent: 0 };
  const total = formatMoney(computed.totalMinor, exponent);
  const faults: Fault[] = [];
  if (computed.totalMinor < 0n && draft.kind !== 'creditNote') {
    const message = `the total is ${total} ${code}, and an invoice must not be below 0: give back no more than is charged`;
    faults.push({ field: 'lines', code: 'negative_total', message });
  }
  if (amountsOf(computed).some((minor) => minor > MINOR_MAX || minor < -MINOR_MAX)) {
    const message = `an amount is beyond ${formatMoney(MINOR_MAX, exponent)} ${code}: split the invoice`;
    faults.push({ field: 'lines', code: 'too_large', message });
  }
  const control = decimalOf(draft.controlTotal);
  // One that is finer than the minor unit has its own fault already.
  if (control?.eq(control.round(exponent)) && !control.eq(parseDecimal(total))) {
    const message = `controlTotal is ${draft.controlTotal}, but the draft comes to ${total} ${code}: correct one of them`;
    faults.push({ field: 'controlTotal', code: 'control_total_differs', message });
  }
  return faults;
}

function amountsOf(computed: ComputedInvoice): bigint[] {
  const { subtotalMinor, discountMinor, chargeMinor, taxExclusiveMinor, taxMinor, totalMinor } = computed;
  return [
    ...computed.lines.flatMap((line) => [line.netMinor, line.taxMinor]),
    ...computed.taxBreakdown.flatMap((group) => [group.taxableMinor, group.taxMinor]),
    ...[subtotalMinor, discountMinor, chargeMinor, taxExclusiveMinor, taxMinor, totalMinor],
  ];
}
