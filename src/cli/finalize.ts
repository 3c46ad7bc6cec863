import { isBillingError } from '../errors.ts';
import type { RequestFinalization } from '../operations/request-finalization.ts';
import { parseReference } from './reference.ts';
import type { Terminal } from './terminal.ts';

/** Asks for the finalization of each invoice; a worker does it. Exit code 1 if any was refused. */
export async function runFinalize(
  references: readonly string[],
  options: { json: boolean },
  needs: { requestFinalization: RequestFinalization; terminal: Terminal },
): Promise<number> {
  const report = {
    accepted: [] as string[],
    alreadyFinalized: [] as string[],
    refused: [] as { reference: string; message: string }[],
  };
  // All are read before the first is asked for: a slip of the pen leaves nothing half done.
  const parsed = references.map((text) => ({ text, reference: parseReference(text) }));
  for (const { text, reference } of parsed) {
    try {
      const result = await needs.requestFinalization(reference, { actor: 'operator' });
      (result.kind === 'accepted' ? report.accepted : report.alreadyFinalized).push(result.invoiceId);
    } catch (error) {
      if (!isBillingError(error, 'not_found')) throw error;
      report.refused.push({ reference: text, message: error.message });
    }
  }
  if (options.json) needs.terminal.print(JSON.stringify(report));
  else describe(report, needs.terminal);
  return report.refused.length > 0 ? 1 : 0;
}

function describe(
  report: {
    accepted: string[];
    alreadyFinalized: string[];
    refused: { reference: string; message: string }[];
  },
  terminal: Terminal,
) {
  for (const id of report.accepted) terminal.print(`${id} accepted: a worker finalizes it`);
  for (const id of report.alreadyFinalized) terminal.print(`${id} was finalized before`);
  for (const { reference, message } of report.refused) terminal.error(`${reference}: ${message}`);
}
