import { v7 as uuidv7 } from 'uuid';
import { customerInputOf } from '../../operations/customer-input.ts';
import type { CreateDraftResult, NewDraft } from '../../operations/ports.ts';
import { createCustomer } from '../customers.ts';
import { Prisma, type PrismaClient } from '../generated/client.ts';
import { insertTrail } from './shared.ts';

/** The customer first, on its own, since it stays whatever becomes of the invoice; then the invoice with its lines. */
export async function createDraft(prisma: PrismaClient, input: NewDraft): Promise<CreateDraftResult> {
  const { kind: customerKind, customer } = await createCustomer(
    prisma,
    customerInputOf(input.draft.customer),
  );
  const row = await insertDraft(prisma, customer.id, input);
  if (row.created_id !== null) {
    return { kind: 'created', invoiceId: row.created_id, customerDiffers: customerKind === 'different' };
  }
  if (row.series_id === null) return { kind: 'unknown_series', series: input.draft.series ?? '' };
  const existing = await prisma.invoice.findUniqueOrThrow({
    where: { externalId: input.draft.externalId },
    select: { id: true, contentHash: true },
  });
  if (existing.contentHash !== input.contentHash) return { kind: 'different', invoiceId: existing.id };
  return { kind: 'unchanged', invoiceId: existing.id, customerDiffers: customerKind === 'different' };
}

async function insertDraft(
  prisma: PrismaClient,
  customerId: string,
  { draft, computed, contentHash }: NewDraft,
): Promise<InsertedRow> {
  const breakdown = computed.taxBreakdown.map((group) => ({
    category: group.category,
    ratePercent: group.ratePercent,
    taxableMinor: group.taxableMinor.toString(),
    taxMinor: group.taxMinor.toString(),
  }));
  const [row] = await prisma.$queryRaw<InsertedRow[]>`
    WITH series AS (
      SELECT s.id FROM number_series s
      WHERE CASE WHEN ${draft.series ?? null}::text IS NULL
        THEN s.id = (SELECT default_series_id FROM sellers ORDER BY created_at, id LIMIT 1)
        ELSE s.code = ${draft.series ?? null}::text END
    ),
    created AS (
      INSERT INTO invoices (
        id, external_id, customer_id, series_id, collection_method, currency, rounding, prices_include_tax,
        discounts, charges, subtotal_minor, discount_minor, charge_minor, tax_minor, total_minor, tax_breakdown,
        due_in_days, note, metadata, content_hash)
      SELECT
        ${uuidv7()}::uuid, ${draft.externalId}, ${customerId}::uuid, series.id,
        ${draft.collectionMethod}::collection_method, ${draft.currency}, ${draft.rounding}::rounding_mode,
        ${draft.pricesIncludeTax}, ${JSON.stringify(draft.discounts)}::jsonb, ${JSON.stringify(draft.charges)}::jsonb,
        ${computed.subtotalMinor}::bigint, ${computed.discountMinor}::bigint, ${computed.chargeMinor}::bigint,
        ${computed.taxMinor}::bigint, ${computed.totalMinor}::bigint, ${JSON.stringify(breakdown)}::jsonb,
        ${draft.dueInDays ?? null}::int, ${draft.note ?? null}, ${JSON.stringify(draft.metadata ?? {})}::jsonb, ${contentHash}
      FROM series
      ON CONFLICT (external_id) DO NOTHING
      RETURNING id
    ),
    lines AS (
      INSERT INTO invoice_lines (
        invoice_id, position, description, quantity, unit_price, price_base_quantity, discounts, charges,
        tax_category, tax_rate_percent, net_minor, tax_minor)
      SELECT created.id, l.position, l.description, l.quantity, l.unit_price, l.price_base_quantity, l.discounts,
        l.charges, l.tax_category, l.tax_rate_percent, l.net_minor, l.tax_minor
      FROM created CROSS JOIN jsonb_to_recordset(${JSON.stringify(linesOf({ draft, computed }))}::jsonb) AS l(
        position int, description text, quantity numeric, unit_price numeric, price_base_quantity numeric,
        discounts jsonb, charges jsonb, tax_category text, tax_rate_percent numeric, net_minor bigint, tax_minor bigint)
    ),
    trail AS (
      ${insertTrail('api', [
        {
          type: 'invoice.created',
          source: Prisma.sql`SELECT id AS invoice_id FROM created`,
          details: Prisma.sql`'{}'::jsonb`,
        },
      ])}
    )
    SELECT (SELECT id FROM created) AS created_id, (SELECT id FROM series) AS series_id`;
  return row ?? { created_id: null, series_id: null };
}

interface InsertedRow {
  created_id: string | null;
  series_id: string | null;
}

function linesOf({ draft, computed }: Pick<NewDraft, 'draft' | 'computed'>): object[] {
  return draft.lines.map((line, index) => {
    const amounts = computed.lines[index];
    if (!amounts) throw new Error('a line was not computed');
    return {
      position: index + 1,
      description: line.description,
      quantity: line.quantity,
      unit_price: line.unitPrice,
      price_base_quantity: line.priceBaseQuantity ?? '1',
      discounts: line.discounts ?? [],
      charges: line.charges ?? [],
      tax_category: amounts.taxCategory,
      tax_rate_percent: amounts.taxRatePercent,
      net_minor: amounts.netMinor.toString(),
      tax_minor: amounts.taxMinor.toString(),
    };
  });
}
