/** A draft as it is handed in: the body of `POST /v1/invoices`, and a line of an import. */
import { z } from 'zod';
import { type ComputedInvoice, computeDraft, type DraftFigures } from '../billing/draft.ts';
import type { Fault } from '../errors.ts';
import { customerInputSchema, type DraftCustomer, draftCustomerOf } from './customer-input.ts';
import { draftContentHash } from './draft-hash.ts';
import { draftRuleFaults } from './draft-rules.ts';
import { figuresAreSound, totalFaults } from './draft-totals.ts';
import { faultsOfIssues } from './input-faults.ts';
import { decimalString, identifier, optionalText, requiredText } from './input-fields.ts';
import { readInputJson, type WithoutNull } from './input-json.ts';

const LINES_MAX = 10_000;
const ADJUSTMENTS_MAX = 50;
const DUE_IN_DAYS_MAX = 3650;
/** More would help nobody to mend the draft. */
const FAULTS_MAX = 10_000;

const taxFields = {
  taxCategory: identifier(20, 'UNCL 5305, such as S or AE; without it S, or O where the rate is 0').nullish(),
  taxRatePercent: decimalString('0 to 100').nullish(),
};

const adjustmentsSchema = z
  .array(
    z.strictObject({
      amount: decimalString('In major units; either this or percent').nullish(),
      percent: decimalString('0 to 100').nullish(),
      reason: optionalText(500),
      ...taxFields,
    }),
  )
  .max(ADJUSTMENTS_MAX)
  .nullable()
  .default([]);

const lineSchema = z.strictObject({
  description: requiredText(4000),
  quantity: decimalString('Below zero for what is given back'),
  unitPrice: decimalString('In major units, 0 or more'),
  priceBaseQuantity: decimalString('The price is for this many').nullable().default('1'),
  ...taxFields,
  discounts: adjustmentsSchema,
  charges: adjustmentsSchema,
});

export const draftInputSchema = z.strictObject({
  externalId: identifier(200, 'Your own name of the invoice; the same name with other content is refused'),
  kind: z.enum(['invoice', 'creditNote']).nullable().default('invoice'),
  customer: customerInputSchema,
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/, 'must be an ISO 4217 code in upper case such as "EUR"')
    .describe('ISO 4217'),
  series: identifier(100, 'Where the number comes from; the default series if missing').nullish(),
  collectionMethod: z
    .enum(['charge_automatically', 'send_invoice'])
    .nullable()
    .default('charge_automatically'),
  pricesIncludeTax: z.boolean().nullable().default(false),
  rounding: z.enum(['per-rate', 'per-line']).nullable().default('per-rate'),
  lines: z.array(lineSchema).min(1).max(LINES_MAX),
  discounts: adjustmentsSchema,
  charges: adjustmentsSchema,
  dueInDays: z.int().min(0).max(DUE_IN_DAYS_MAX).nullish(),
  note: optionalText(10_000),
  metadata: z.record(z.string(), z.string().max(500)).nullish(),
  controlTotal: decimalString('If given, the draft is refused unless it comes to this total').nullish(),
});

type ParsedDraft = WithoutNull<z.output<typeof draftInputSchema>>;

/** A draft without faults: nulls are gone and defaults are filled in; decimals are as they were written. */
export type DraftInput = Omit<ParsedDraft, 'customer'> & { customer: DraftCustomer };

export type DraftResult =
  | {
      ok: true;
      draft: DraftInput;
      computed: ComputedInvoice;
      /** SHA-256; the same for drafts that say the same. */
      contentHash: string;
    }
  | { ok: false; externalId: string | null; faults: Fault[] };

/** Every fault at once: those of the shape, those of the rules, and those of the totals if they can be computed. */
export function parseDraft(value: unknown): DraftResult {
  const json = readInputJson(value);
  if (!json) return refuse(value, [TOO_LARGE]);
  const parsed = draftInputSchema.safeParse(json.value, { reportInput: true });
  const faults = [
    ...json.faults,
    ...(parsed.success ? [] : faultsOfIssues(parsed.error.issues)),
    ...draftRuleFaults(json.value),
  ];
  const computed = figuresAreSound(json.value, faults) ? computeDraft(json.value as DraftFigures) : null;
  if (computed) faults.push(...totalFaults(json.value, computed));
  if (!parsed.success || !computed || faults.length > 0) return refuse(value, faults);
  const { customer, ...rest } = parsed.data as ParsedDraft;
  const draft = { ...rest, customer: draftCustomerOf(customer) };
  return { ok: true, draft, computed, contentHash: draftContentHash(draft) };
}

const TOO_LARGE: Fault = {
  field: '',
  code: 'too_large',
  message: 'the draft holds more values than can be checked: split it',
};

function refuse(value: unknown, faults: readonly Fault[]): DraftResult {
  const externalId =
    typeof value === 'object' && value !== null && 'externalId' in value ? value.externalId : null;
  return {
    ok: false,
    externalId: typeof externalId === 'string' ? externalId : null,
    faults: faults.slice(0, FAULTS_MAX),
  };
}
