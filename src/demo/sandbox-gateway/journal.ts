/**
 * An append-only file of JSON lines: everything that changed the ledger or a key. Read again at the start, it makes
 * the gateway outlive its own restart, kill −9 included: a reply is given only after the kernel has the line. It is
 * not synced to the disk, so it does not outlive the machine.
 */
import { createReadStream, existsSync } from 'node:fs';
import { mkdir, open, truncate } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { attemptSchema } from './attempt.ts';

const entrySchema = z.discriminatedUnion('kind', [
  /** A call that executed nothing: refused, replayed, cut before. */
  z.object({ kind: z.literal('send'), atMs: z.number(), key: z.string() }),
  /** A call that executed. */
  z.object({ kind: z.literal('attempt'), atMs: z.number(), hash: z.string(), attempt: attemptSchema }),
]);

export type JournalEntry = z.infer<typeof entrySchema>;

export interface Journal {
  /** Resolves when a killed process would not lose the entry any more. */
  append(entry: JournalEntry): Promise<void>;
  close(): Promise<void>;
}

/** Without a path nothing is kept. `apply` is given what earlier runs wrote, in its order. */
export async function openJournal(
  path: string | undefined,
  apply: (entry: JournalEntry) => void,
): Promise<Journal> {
  if (path === undefined) return { append: async () => {}, close: async () => {} };
  await mkdir(dirname(path), { recursive: true });
  // A kill can tear the last line only, and nobody was told about that one.
  if (existsSync(path)) await truncate(path, await readWholeLines(path, apply));
  const file = await open(path, 'a');

  let waiting: string[] = [];
  let next: Promise<void> | null = null;
  let last: Promise<void> = Promise.resolve();

  return {
    /** Entries that come during a write share the next one. */
    append(entry) {
      waiting.push(`${JSON.stringify(entry)}\n`);
      if (next) return next;
      next = last.then(write, write);
      last = next;
      return next;
    },
    async close() {
      await last.catch(() => {});
      await file.close();
    },
  };

  async function write(): Promise<void> {
    const text = waiting.join('');
    waiting = [];
    next = null;
    await file.appendFile(text);
  }
}

/** @returns the length in bytes up to the end of the last whole line */
async function readWholeLines(path: string, apply: (entry: JournalEntry) => void): Promise<number> {
  let wholeBytes = 0;
  let lineNo = 0;
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    const bytes = Buffer.concat([rest, chunk]);
    const end = bytes.lastIndexOf('\n') + 1;
    for (const line of bytes.toString('utf8', 0, end).split('\n').slice(0, -1)) {
      lineNo += 1;
      apply(parseLine(line, `${path}:${lineNo}`));
    }
    wholeBytes += end;
    rest = bytes.subarray(end);
  }
  return wholeBytes;
}

/** A whole line that cannot be read means that money was forgotten, so the start fails. */
function parseLine(line: string, place: string): JournalEntry {
  try {
    return entrySchema.parse(JSON.parse(line));
  } catch (cause) {
    throw new Error(`${place} is not an entry of the sandbox gateway's journal`, { cause });
  }
}
