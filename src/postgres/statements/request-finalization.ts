import type { Actor, FinalizationWish, Reference } from '../../operations/ports.ts';
import { Prisma, type PrismaClient } from '../generated/client.ts';
import { insertTrail } from './shared.ts';

/** A reminder that was lost is given again after this time. */
const REMIND_AFTER = Prisma.sql`interval '30 seconds'`;

/** Stores the wish with the version that it was meant for; a wish that stands already is left as it is. */
export async function requestFinalization(
  prisma: PrismaClient,
  reference: Reference,
  by: Actor,
): Promise<FinalizationWish> {
  const where =
    'id' in reference
      ? Prisma.sql`i.id = ${reference.id}::uuid`
      : Prisma.sql`i.external_id = ${reference.externalId}`;
  const [row] = await prisma.$queryRaw<{ id: string; status: string }[]>`
    WITH invoice AS MATERIALIZED (SELECT i.* FROM invoices i WHERE ${where} FOR NO KEY UPDATE OF i),
    wished AS (
      UPDATE invoices i SET
        finalize_requested_at = clock_timestamp(), finalize_version = i.version,
        remind_at = clock_timestamp() + ${REMIND_AFTER}, revision = i.revision + 1, updated_at = clock_timestamp()
      FROM invoice
      WHERE i.id = invoice.id AND i.status = 'draft' AND i.finalize_version IS DISTINCT FROM i.version
      RETURNING i.id
    ),
    trail AS (
      ${insertTrail(by.actor, [
        {
          type: 'invoice.finalization_requested',
          source: Prisma.sql`SELECT id AS invoice_id FROM wished`,
          details: Prisma.sql`'{}'::jsonb`,
        },
      ])}
    )
    SELECT id, status::text AS status FROM invoice`;
  if (!row) return { kind: 'not_found' };
  return { kind: row.status === 'draft' ? 'wished' : 'already_finalized', invoiceId: row.id };
}
