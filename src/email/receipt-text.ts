import type { LabelledText, ReceiptView } from './receipt-view.ts';

/** Mail readers that show plain text wrap it at 72–78 characters. */
const WIDTH = 68;
const RULE = '-'.repeat(WIDTH);

export function receiptText(view: ReceiptView): string {
  return [
    `${view.heading} - ${view.seller}`,
    '',
    view.thanks,
    '',
    ...labelled([view.paid, ...view.facts]),
    '',
    RULE,
    ...view.lines.flatMap((line) => spread(`${line.quantity} x ${line.description}`, line.amount)),
    ...(view.moreLines ? [view.moreLines] : []),
    RULE,
    ...view.sums.flatMap((sum) => spread(sum.label, sum.text)),
    ...spread(view.total.label, view.total.text),
    RULE,
    '',
    ...view.parties.flatMap((party) => [`${party.label}:`, ...party.lines.map((line) => `  ${line}`), '']),
    ...wrapped(view.footer, WIDTH),
    '',
  ].join('\n');
}

function labelled(facts: LabelledText[]): string[] {
  const width = Math.max(...facts.map((fact) => fact.label.length)) + 2;
  return facts.map((fact) => `${`${fact.label}:`.padEnd(width)} ${fact.text}`);
}

/** The words on the left, the amount on the right of their last line. */
function spread(left: string, right: string): string[] {
  const lines = wrapped(left, WIDTH - AMOUNT_WIDTH);
  const last = lines.pop() ?? '';
  return [...lines, last + ' '.repeat(Math.max(2, WIDTH - last.length - right.length)) + right];
}

const AMOUNT_WIDTH = 20;

/** At spaces; a word that is longer than a line stays whole. */
function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line ? `${line} ${word}` : word;
    }
  }
  return [...lines, line];
}
