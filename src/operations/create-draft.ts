/** Takes a draft in, however it arrives (HTTP or import): checked as a whole, computed, then stored once. */
import { BillingError } from '../errors.ts';
import { parseDraft } from './draft-input.ts';
import type { InvoiceStore } from './ports.ts';

export interface CreatedDraft {
  invoiceId: string;
  /** False: an invoice with this external id and this very content was there already. */
  created: boolean;
  /** The customer exists with other data, which was kept. */
  customerDiffers: boolean;
}

export type CreateDraft = (input: unknown) => Promise<CreatedDraft>;

/**
 * Run twice with the same content: nothing changes.
 * @throws BillingError `invalid` with every fault of the input; `conflict` if the external id is taken by an
 * invoice with other content
 */
export function makeCreateDraft(needs: { invoices: Pick<InvoiceStore, 'create'> }): CreateDraft {
  return async (input) => {
    const parsed = parseDraft(input);
    if (!parsed.ok) throw new BillingError('invalid', 'the draft has faults', { faults: parsed.faults });
    const result = await needs.invoices.create(parsed);
    switch (result.kind) {
      case 'created':
      case 'unchanged':
        return {
          invoiceId: result.invoiceId,
          created: result.kind === 'created',
          customerDiffers: result.customerDiffers,
        };
      case 'different':
        throw fault(
          'conflict',
          'externalId',
          'different_content',
          'externalId is taken by an invoice with other content: use another one, or change that invoice',
        );
      case 'unknown_series':
        throw fault(
          'invalid',
          'series',
          'unknown_series',
          'series names no series that exists: leave it out to use the default one',
        );
      default:
        return result satisfies never;
    }
  };
}

function fault(
  code: 'conflict' | 'invalid',
  field: string,
  faultCode: string,
  message: string,
): BillingError {
  return new BillingError(code, message, { faults: [{ field, code: faultCode, message }] });
}
