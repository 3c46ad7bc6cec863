import { createReadStream } from 'node:fs';
import { access } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { BillingError } from '../errors.ts';
import type { CreateDraft } from '../operations/create-draft.ts';
import { importDrafts, type RefusedLine } from '../operations/import-drafts.ts';
import type { Terminal } from './terminal.ts';

/** Exit code 0 if every line went in, 1 if any was refused. @throws BillingError `invalid` for a missing file */
export async function runImport(
  file: string,
  options: { json: boolean },
  needs: { createDraft: CreateDraft; terminal: Terminal },
): Promise<number> {
  const { terminal } = needs;
  const report = { created: 0, unchanged: 0, refused: [] as RefusedLine[] };
  for await (const result of importDrafts(await linesOf(file), needs.createDraft)) {
    if (result.kind === 'refused') {
      const { kind: _, ...refused } = result;
      report.refused.push(refused);
      if (!options.json) terminal.error(describeRefusal(refused));
      continue;
    }
    report[result.kind] += 1;
    if (result.customerDiffers) {
      terminal.error(`line ${result.line}: warning: the customer exists with other data, which was kept`);
    }
  }
  if (options.json) terminal.print(JSON.stringify(report));
  else
    terminal.print(
      `${report.created} created, ${report.unchanged} unchanged, ${report.refused.length} refused`,
    );
  return report.refused.length > 0 ? 1 : 0;
}

async function linesOf(file: string): Promise<AsyncIterable<string>> {
  try {
    await access(file);
  } catch {
    throw new BillingError('invalid', `${file} cannot be read: name a file of JSON Lines, one draft a line`);
  }
  return createInterface({ input: createReadStream(file, 'utf8'), crlfDelay: Number.POSITIVE_INFINITY });
}

function describeRefusal(refused: RefusedLine): string {
  const who = refused.externalId === null ? '' : ` (${refused.externalId})`;
  const faults = refused.faults.map((fault) => `  ${fault.field ? `${fault.field}: ` : ''}${fault.message}`);
  return [`line ${refused.line}${who} refused:`, ...faults].join('\n');
}
