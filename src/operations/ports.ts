/**
 * What the operations need from outside. Each port is a small object of functions; the adapters live in the
 * rings around (`postgres`, `gateways`, `email`, `bullmq`, `locks`) and are bound in `app.ts` alone.
 */
import type { ComputedInvoice } from '../billing/draft.ts';
import type { CollectionMethod, InvoiceStatus, InvoiceWork } from '../billing/invoice.ts';
import type { PaymentStatus } from '../billing/payment.ts';
import type { DraftInput } from './draft-input.ts';

// ---------------------------------------------------------------------------------------------- gateway

/** Everything that goes into one capture. It is frozen in the payment's row; a re-send carries the same. */
export interface CaptureRequest {
  /** The idempotency key. Read from the payment's row by every sender, derived by none. */
  gatewayKey: string;
  amountMinor: bigint;
  /** ISO 4217, upper case. */
  currency: string;
  gatewayCustomer: string | null;
  paymentMethod: string;
  /** What the customer reads on the statement; 5–22 characters of plain ASCII. */
  descriptor: string;
  metadata: PaymentMetadata;
}

/** Ids that travel with a capture, so that it can be found again at the gateway without its reference. */
export interface PaymentMetadata {
  paymentId: string;
  invoiceId: string;
  externalId: string;
  number: string;
}

/** Why a decline was final for this attempt, and what may help. */
export type DeclineClass = 'retry_later' | 'customer_must_act' | 'stop';

/** What the gateway says that it captured; compared with the row before anything is believed. */
export interface CaptureEcho {
  account: string;
  paymentId: string;
  amountMinor: bigint;
  currency: string;
}

/**
 * What became of one call. An adapter never throws for anything that the network or the gateway does: whatever
 * it cannot tell for certain is `unknown`, because a time-out is not a failure.
 */
export type CaptureOutcome =
  | { kind: 'captured'; reference: string; echo: CaptureEcho }
  | { kind: 'declined'; reference: string; declineCode: string; declineClass: DeclineClass }
  | { kind: 'requires_action'; reference: string; actionUrl: string }
  | { kind: 'processing'; reference: string; statusWord: string }
  /** Time-out, reset, 5xx, aborted: the capture may have been made. */
  | { kind: 'unknown'; reason: string }
  /** Certain that nothing was done (connection refused, 429): the same key may be sent again. */
  | { kind: 'not_executed'; reason: string; retryAfterMs?: number }
  /** Another call with this key is under way at the gateway (409). */
  | { kind: 'key_in_use' }
  /** 400, 401, 403, parameter mismatch, unsupported currency: only a person can mend it. */
  | { kind: 'ours_to_fix'; reason: string };

/** One capture in the gateway's own books. */
export interface GatewayCapture {
  reference: string;
  gatewayKey: string;
  amountMinor: bigint;
  currency: string;
  capturedAt: Date;
  metadata: PaymentMetadata;
}

export interface Gateway {
  /** `sandbox`, `stripe`: stored on each payment; references are unique within it. */
  readonly name: string;
  /** The account whose echo is believed. */
  readonly account: string;
  /** One call, 30 s at most. Run twice with one key: one capture, the same answer. */
  capture(request: CaptureRequest, options?: { signal?: AbortSignal }): Promise<CaptureOutcome>;
  /** The gateway's ledger, oldest first. @throws BillingError `unavailable` */
  listCaptures(range?: { since?: Date }): AsyncIterable<GatewayCapture>;
  /** @throws BillingError `unavailable` with one sentence that says where it was looked for */
  ping(): Promise<void>;
  close(): Promise<void>;
}

// ------------------------------------------------------------------------------------------------- mail

/** Plain addresses only (no display names, groups or lists); checked again by the mailer. */
export interface MailMessage {
  /** `<…@…>`, fixed when the e-mail's row was made, so that a second delivery can be recognised. */
  messageId: string;
  fromName: string;
  fromAddress: string;
  to: readonly string[];
  subject: string;
  text: string;
  html: string;
}

/**
 * What became of one hand-over. `uncertain`: the message was sent to its end and no reply came; it may have been
 * delivered, and only a person may send it again.
 */
export type MailOutcome =
  | { kind: 'sent'; reply: string }
  | { kind: 'not_sent'; reason: string }
  | { kind: 'uncertain'; reason: string }
  | { kind: 'rejected'; reason: string };

export interface Mailer {
  send(message: MailMessage, options?: { signal?: AbortSignal }): Promise<MailOutcome>;
  /** @throws BillingError `unavailable` with one sentence that says where it was looked for */
  ping(): Promise<void>;
}

/** What a receipt says. Amounts in minor units; dates are local dates, YYYY-MM-DD. */
export interface ReceiptContent {
  seller: PartySnapshot;
  customer: PartySnapshot;
  invoiceNumber: string;
  issueDate: string;
  /** When the money was captured, in the seller's time zone. */
  paidDate: string;
  currency: string;
  lines: readonly { description: string; quantity: string; netMinor: bigint }[];
  subtotalMinor: bigint;
  discountMinor: bigint;
  chargeMinor: bigint;
  taxes: readonly { category: string; ratePercent: string; taxMinor: bigint }[];
  totalMinor: bigint;
  paidMinor: bigint;
  /** BCP 47; decides how figures and dates are written. */
  locale: string;
}

/** A party as it was when the invoice was finalized. */
export interface PartySnapshot {
  name: string;
  address: Address | null;
  taxNumber: string | null;
}

export interface Address {
  line1?: string | null;
  line2?: string | null;
  city?: string | null;
  state?: string | null;
  postalCode?: string | null;
  country?: string | null;
}

// ------------------------------------------------------------------------------------------------ locks

/** What a section that holds an invoice's lock is given. */
export interface HeldLock {
  /** Aborts as soon as ownership is lost or can no longer be known. */
  readonly signal: AbortSignal;
  /** Synchronous; throws when ownership was lost. Goes before every call that cannot be taken back. */
  assertHeld(): void;
}

/** Runs `section` under the invoice's lock; answers `busy` at once, without running it, if somebody holds it. */
export type WithInvoiceLock = <T>(
  invoiceId: string,
  section: (held: HeldLock) => Promise<T>,
) => Promise<{ busy: false; value: T } | { busy: true }>;

// ----------------------------------------------------------------------------------------------- stores

/** A payment whose `sent` has been committed: the permission to make one call. */
export interface SentPayment extends CaptureRequest {
  id: string;
  invoiceId: string;
  requestId: string;
  /** Counts the sends; an answer is settled for the send that it belongs to. */
  sendNo: number;
  declinesBefore: number;
  /** Monotonic clock, read before the statement that wrote `sent` was handed over. */
  lookedAtMs: number;
}

/** The identity of a new attempt, fixed before its row is written. */
export interface NewAttempt {
  paymentId: string;
  requestId: string;
  gateway: string;
  gatewayKey: string;
  descriptor: string;
}

/** Who did it, for the trail: a job, a key of the API, an operator. */
export interface Actor {
  actor: string;
}

export type FinalizeResult =
  /** `payment` is null where nothing is charged: total 0, no method, collected by the customer. */
  | { kind: 'finalized'; number: string; status: 'open' | 'paid'; payment: SentPayment | null }
  /** The row was changed meanwhile: look again. */
  | { kind: 'changed' };

export type LastLookResult =
  | { kind: 'sent'; payment: SentPayment }
  /** Nothing may be sent any more; an attempt that never was sent is cancelled with it. */
  | { kind: 'refused'; status: PaymentStatus | null };

/** The settlement of an answer that is not a capture. */
export type Settlement =
  | {
      kind: 'declined';
      reference: string;
      declineCode: string;
      declineClass: DeclineClass;
      retryAfterMs: number | null;
    }
  | { kind: 'requires_action'; reference: string; actionUrl: string; checkAfterMs: number }
  | { kind: 'processing'; reference: string; reason: string; checkAfterMs: number }
  | { kind: 'unknown'; reason: string; checkAfterMs: number }
  | { kind: 'not_executed'; reason: string; checkAfterMs: number }
  | { kind: 'ours_to_fix'; reason: string; checkAfterMs: number };

export interface CapturedAnswer {
  reference: string;
  amountMinor: bigint;
}

/** The rows behind an invoice's life. Each function is one statement, and each change is a compare-and-set. */
export interface PaymentStore {
  loadWork(invoiceId: string): Promise<InvoiceWork | null>;
  finalize(invoiceId: string, version: number, attempt: NewAttempt, by: Actor): Promise<FinalizeResult>;
  /** A further attempt at an open invoice, written as sent. Null: the row was changed meanwhile. */
  startAttempt(
    invoiceId: string,
    attemptSeq: number,
    attempt: NewAttempt,
    by: Actor,
  ): Promise<SentPayment | null>;
  /** `ownSendNo`: this sender's own earlier look, which reached nobody yet. */
  lastLook(paymentId: string, options: Actor & { ownSendNo?: number }): Promise<LastLookResult>;
  /** Accepted from every other status. `emailId` is null if it had been settled before. */
  settleCaptured(
    payment: SentPayment,
    answer: CapturedAnswer,
    by: Actor & { jobName: string },
  ): Promise<{ emailId: string | null }>;
  /** No row changed: already settled, or a later send is under way. That is no error. */
  settle(payment: SentPayment, settlement: Settlement, by: Actor): Promise<{ changed: boolean }>;
}

/** What a claimed e-mail is written from; read again at every send. */
export interface ClaimedEmail {
  id: string;
  messageId: string;
  sendNo: number;
  recipients: string[];
  senderAddress: string | null;
  content: ReceiptContent;
}

export interface EmailStore {
  /** pending → sending. Null: nothing to send, or somebody else is sending it. */
  claim(emailId: string): Promise<ClaimedEmail | null>;
  /** sending → what became of it, by compare-and-set on the send's number. */
  settle(
    emailId: string,
    sendNo: number,
    end: { status: 'pending' | 'sent' | 'uncertain' | 'rejected' | 'skipped'; reason: string | null },
  ): Promise<boolean>;
}

/** An id, or the caller's own name of the thing (`ext:` in the API). */
export type Reference = { id: string } | { externalId: string };

export interface CustomerInput {
  externalId: string;
  name: string;
  emails: readonly string[];
  address: Address | null;
  /** BCP 47. */
  locale: string | null;
  /** IANA. */
  timeZone: string | null;
  taxNumber: string | null;
  /** The gateway's reference, such as `pm_…`. */
  paymentMethod: string | null;
}

export interface CustomerView extends CustomerInput {
  id: string;
  createdAt: Date;
  updatedAt: Date;
}

export interface CustomerStore {
  /** Run twice with the same data: `unchanged`. With other data: `different`, and nothing is changed. */
  create(
    input: CustomerInput,
  ): Promise<{ kind: 'created' | 'unchanged' | 'different'; customer: CustomerView }>;
  get(reference: Reference): Promise<CustomerView | null>;
}

/** What is kept of a draft: its input with everything computed. */
export interface NewDraft {
  draft: DraftInput;
  computed: ComputedInvoice;
  contentHash: string;
}

export type CreateDraftResult =
  | { kind: 'created' | 'unchanged'; invoiceId: string; customerDiffers: boolean }
  /** The external id is taken by an invoice with other content. */
  | { kind: 'different'; invoiceId: string }
  | { kind: 'unknown_series'; series: string };

/** Amounts in minor units; local dates as YYYY-MM-DD. */
export interface InvoiceSummary {
  id: string;
  externalId: string;
  number: string | null;
  status: InvoiceStatus;
  collectionMethod: CollectionMethod;
  customerId: string;
  customerExternalId: string;
  currency: string;
  subtotalMinor: bigint;
  discountMinor: bigint;
  chargeMinor: bigint;
  taxMinor: bigint;
  totalMinor: bigint;
  paidMinor: bigint;
  creditedMinor: bigint;
  dueMinor: bigint;
  issueDate: string | null;
  dueDate: string | null;
  finalizeRequestedAt: Date | null;
  finalizedAt: Date | null;
  nextAttemptAt: Date | null;
  parkedReason: string | null;
  version: number;
  revision: number;
  createdAt: Date;
  updatedAt: Date;
}

export interface InvoiceView extends InvoiceSummary {
  series: string;
  rounding: 'per-rate' | 'per-line';
  pricesIncludeTax: boolean;
  note: string | null;
  metadata: Record<string, string>;
  lines: readonly {
    description: string;
    quantity: string;
    unitPrice: string;
    taxCategory: string;
    taxRatePercent: string;
    netMinor: bigint;
    taxMinor: bigint;
  }[];
  taxBreakdown: readonly { category: string; ratePercent: string; taxableMinor: bigint; taxMinor: bigint }[];
  /** Newest last. */
  payments: readonly {
    id: string;
    status: PaymentStatus;
    amountMinor: bigint;
    declineCode: string | null;
    declineClass: DeclineClass | null;
    gateway: string;
    gatewayReference: string | null;
    createdAt: Date;
    capturedAt: Date | null;
  }[];
}

export type FinalizationWish =
  | { kind: 'wished'; invoiceId: string }
  | { kind: 'already_finalized'; invoiceId: string }
  | { kind: 'not_found' };

export interface InvoiceStore {
  /** One statement for the customer, one for the invoice with its lines. Run twice: `unchanged`. */
  create(draft: NewDraft): Promise<CreateDraftResult>;
  get(reference: Reference): Promise<InvoiceView | null>;
  /** Newest first. `cursor` is what the last page answered; rows added meanwhile neither repeat nor hide any. */
  list(page: { status?: InvoiceStatus; limit: number; cursor?: string }): Promise<{
    data: InvoiceSummary[];
    nextCursor: string | null;
  }>;
  /** Stores the wish with the draft's version. Run twice: the same. */
  requestFinalization(reference: Reference, by: Actor): Promise<FinalizationWish>;
}

// ----------------------------------------------------------------------------------------------- queues

/** Where a job was put; null if it could not be (Redis is away), which loses nothing. */
export type EnqueuedJob = { queue: string; id: string } | null;

/** Reminders of what Postgres knows. They never throw for an outage: the rows are the truth. */
export interface Reminders {
  finalizeInvoice(invoiceId: string): Promise<EnqueuedJob>;
  sendMail(emailId: string): Promise<EnqueuedJob>;
}

// ------------------------------------------------------------------------------------------------- logs

/** The part of a pino logger that the operations use. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
