import { data as isoCurrencies } from 'currency-codes';
import { BillingError } from '../errors.ts';

export interface Currency {
  /** ISO 4217, upper case. */
  code: string;
  /** Decimals of its minor unit, after ISO 4217. `Intl` shows some currencies with fewer. */
  exponent: number;
  /** No longer money: old invoices can be computed in it, new ones are refused. */
  withdrawn: boolean;
}

/** Null for anything but a code of money in upper case. */
export function findCurrency(code: string): Currency | null {
  return CURRENCIES.get(code) ?? null;
}

/** @throws BillingError `invalid` */
export function currencyOf(code: string): Currency {
  const currency = findCurrency(code);
  if (!currency) {
    throw new BillingError('invalid', `${JSON.stringify(code.slice(0, 10))} is no currency of ISO 4217`);
  }
  return currency;
}

/** Codes without a minor unit: metals, units of account, test and none. Nothing can be charged in them. */
const NOT_MONEY = codes('XAG XAU XBA XBB XBC XBD XDR XPD XPT XSU XTS XUA XXX');

/** ISO 4217 since June 2024, the state of the table: what came … */
const ADDED_SINCE = codes('XCG');
/** … and what went: the Netherlands Antillean guilder in 2025, the lev in 2026. */
const WITHDRAWN_SINCE = codes('ANG BGN');

/** The table has no withdrawn codes. These were money after 1999, by their exponents. */
const WITHDRAWN_BY_EXPONENT: readonly (readonly [exponent: number, codes: readonly string[]])[] = [
  [0, codes('BEF BYR ESP GRD ITL LUF PTE TRL')],
  [
    2,
    codes(
      'AFA ATS AZM BGL CSD CYP DEM EEK FIM FRF GHC HRK IEP LTL LVL MRO MTL MZM NLG SDD SIT SKK SLL SRG STD TMM VEB VEF YUM ZMK ZWD ZWL',
    ),
  ],
];

const CURRENCIES: ReadonlyMap<string, Currency> = new Map(
  [
    ...WITHDRAWN_BY_EXPONENT.flatMap(([exponent, withdrawn]) =>
      withdrawn.map((code) => ({ code, exponent, withdrawn: true })),
    ),
    ...ADDED_SINCE.map((code) => ({ code, exponent: 2, withdrawn: false })),
    // Last, so that a newer table wins over the corrections, except for what it still lists and is gone.
    ...isoCurrencies
      .filter(({ code }) => !NOT_MONEY.includes(code))
      .map(({ code, digits }) => ({ code, exponent: digits, withdrawn: WITHDRAWN_SINCE.includes(code) })),
  ].map((currency) => [currency.code, currency]),
);

function codes(list: string): readonly string[] {
  return list.split(' ');
}
