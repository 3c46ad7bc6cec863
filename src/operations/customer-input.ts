/** A customer as it is handed in, alone or within a draft. */
import { z } from 'zod';
import { isPlainEmailAddress } from '../billing/plain-email-address.ts';
import type { Fault } from '../errors.ts';
import { faultsOfIssues } from './input-faults.ts';
import { identifier, optionalText, requiredText } from './input-fields.ts';
import { listOf, objectOf, readInputJson, type WithoutNull } from './input-json.ts';
import type { CustomerInput } from './ports.ts';

const EMAILS_MAX = 20;
/** Longer than any address can be, so that the rule below names the fault. */
const EMAIL_LENGTH_MAX = 1000;

const addressSchema = z.strictObject({
  line1: optionalText(300),
  line2: optionalText(300),
  city: optionalText(200),
  state: optionalText(200),
  postalCode: optionalText(50),
  country: optionalText(100),
});

export const customerInputSchema = z.strictObject({
  externalId: identifier(200, 'Your own name of the customer; a customer is created once'),
  name: requiredText(500),
  email: z.string().max(EMAIL_LENGTH_MAX).nullish().describe('One plain address, such as ann@example.com'),
  emails: z.array(z.string().max(EMAIL_LENGTH_MAX)).max(EMAILS_MAX).nullish(),
  address: addressSchema.nullish(),
  locale: z.string().max(100).nullish().describe('BCP 47, such as de-AT'),
  timeZone: z.string().max(100).nullish().describe('IANA, such as Europe/Vienna'),
  taxNumber: optionalText(100),
  paymentMethod: identifier(200, 'The reference of the payment method at the gateway').nullish(),
});

type ParsedCustomer = WithoutNull<z.output<typeof customerInputSchema>>;

/** A customer within a draft: `email` and `emails` have become one list without repetitions. */
export type DraftCustomer = Omit<ParsedCustomer, 'email' | 'emails'> & { emails: string[] };

/** Every fault at once. */
export function parseCustomer(
  input: unknown,
): { ok: true; customer: CustomerInput } | { ok: false; faults: Fault[] } {
  const json = readInputJson(input);
  if (!json) {
    return { ok: false, faults: [{ field: '', code: 'too_large', message: 'the customer is too large' }] };
  }
  const parsed = customerInputSchema.safeParse(json.value, { reportInput: true });
  const faults = [
    ...json.faults,
    ...(parsed.success ? [] : faultsOfIssues(parsed.error.issues)),
    ...customerRuleFaults(json.value, ''),
  ];
  if (!parsed.success || faults.length > 0) return { ok: false, faults };
  return { ok: true, customer: customerInputOf(draftCustomerOf(parsed.data as ParsedCustomer)) };
}

export function draftCustomerOf({ email, emails, ...customer }: ParsedCustomer): DraftCustomer {
  return { ...customer, emails: [...new Set([...(email === undefined ? [] : [email]), ...(emails ?? [])])] };
}

/** What is kept of a draft's customer; absent becomes null. */
export function customerInputOf(customer: DraftCustomer): CustomerInput {
  return {
    externalId: customer.externalId,
    name: customer.name,
    emails: customer.emails,
    address: customer.address ?? null,
    locale: customer.locale ?? null,
    timeZone: customer.timeZone ?? null,
    taxNumber: customer.taxNumber ?? null,
    paymentMethod: customer.paymentMethod ?? null,
  };
}

/**
 * What JSON Schema cannot say. Takes any value and judges only what has the right shape, so that these faults are
 * reported beside those of the shape. `prefix` stands before each field's path.
 */
export function customerRuleFaults(input: unknown, prefix: string): Fault[] {
  const customer = objectOf(input);
  return [
    ...emailFaults(`${prefix}email`, customer.email),
    ...listOf(customer.emails).flatMap((email, index) => emailFaults(`${prefix}emails[${index}]`, email)),
    ...localeFaults(`${prefix}locale`, customer.locale),
    ...timeZoneFaults(`${prefix}timeZone`, customer.timeZone),
  ];
}

function emailFaults(field: string, email: unknown): Fault[] {
  if (typeof email !== 'string' || isPlainEmailAddress(email)) return [];
  const name = field.slice(field.indexOf('.') + 1);
  const message = `${name} must be one plain address such as ann@example.com, without a display name, quotes, comments or a list`;
  return [{ field, code: 'invalid_email', message }];
}

function localeFaults(field: string, locale: unknown): Fault[] {
  if (typeof locale !== 'string') return [];
  try {
    Intl.getCanonicalLocales(locale);
    return [];
  } catch {
    return [{ field, code: 'invalid_locale', message: 'locale must be a BCP 47 tag such as "de-AT"' }];
  }
}

function timeZoneFaults(field: string, timeZone: unknown): Fault[] {
  if (typeof timeZone !== 'string' || isTimeZone(timeZone)) return [];
  const message = 'timeZone must be the name of an IANA time zone such as "Europe/Vienna"';
  return [{ field, code: 'invalid_time_zone', message }];
}

function isTimeZone(name: string): boolean {
  // Offsets such as +03:00 are known to Intl too, but Postgres reads them the other way round.
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
