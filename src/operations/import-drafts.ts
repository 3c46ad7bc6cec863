/** Takes drafts in by the line: good ones are stored, each bad one is refused with its number and all its faults. */
import { type Fault, isBillingError } from '../errors.ts';
import type { CreateDraft } from './create-draft.ts';

/** Lines that are stored at the same time; the report keeps their order. */
const LINES_AT_ONCE = 8;
const LINE_LENGTH_MAX = 8 * 1024 * 1024;

export interface RefusedLine {
  /** Counted from 1, empty lines included, as an editor shows it. */
  line: number;
  externalId: string | null;
  faults: readonly Fault[];
}

export type ImportedLine =
  | { kind: 'created' | 'unchanged'; line: number; invoiceId: string; customerDiffers: boolean }
  | ({ kind: 'refused' } & RefusedLine);

/**
 * Run twice on the same lines: all `unchanged`.
 * @throws whatever is no fault of a line, such as Postgres being away; lines before it are stored
 */
export async function* importDrafts(
  lines: AsyncIterable<string>,
  createDraft: CreateDraft,
): AsyncGenerator<ImportedLine> {
  let batch: Promise<ImportedLine>[] = [];
  let lineNo = 0;
  for await (const text of lines) {
    lineNo += 1;
    const line = lineNo === 1 ? text.replace(/^\uFEFF/, '') : text;
    if (line.trim() === '') continue;
    batch.push(importLine(line, lineNo, createDraft));
    if (batch.length < LINES_AT_ONCE) continue;
    yield* await Promise.all(batch);
    batch = [];
  }
  yield* await Promise.all(batch);
}

async function importLine(text: string, line: number, createDraft: CreateDraft): Promise<ImportedLine> {
  const parsed = parseLine(text);
  if ('faults' in parsed) return { kind: 'refused', line, externalId: null, faults: parsed.faults };
  try {
    const { created, invoiceId, customerDiffers } = await createDraft(parsed.value);
    return { kind: created ? 'created' : 'unchanged', line, invoiceId, customerDiffers };
  } catch (error) {
    if (!isBillingError(error, 'invalid') && !isBillingError(error, 'conflict')) throw error;
    return { kind: 'refused', line, externalId: externalIdOf(parsed.value), faults: error.faults };
  }
}

function parseLine(text: string): { value: unknown } | { faults: Fault[] } {
  if (text.length > LINE_LENGTH_MAX) {
    return fault(
      'too_long',
      `the line has more than ${LINE_LENGTH_MAX / 1024 / 1024} MiB: split the invoice`,
    );
  }
  try {
    return { value: JSON.parse(text) };
  } catch {
    return fault('invalid_json', 'the line is not one JSON object: check quotes, commas and braces');
  }
}

function fault(code: string, message: string): { faults: Fault[] } {
  return { faults: [{ field: '', code, message }] };
}

function externalIdOf(value: unknown): string | null {
  if (typeof value !== 'object' || value === null || !('externalId' in value)) return null;
  return typeof value.externalId === 'string' ? value.externalId : null;
}
