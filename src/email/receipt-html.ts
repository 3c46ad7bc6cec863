import { escapeHtml } from './escape-html.ts';
import type { LabelledText, ReceiptView } from './receipt-view.ts';

/**
 * HTML as mail readers take it: tables for the layout, styles on the elements, nothing loaded from outside. The
 * style sheet in the head only adds what an element cannot say (dark colours, narrow screens); readers that drop
 * it show the light form.
 */
export function receiptHtml(view: ReceiptView): string {
  return `<!DOCTYPE html>
<html lang="${escapeHtml(view.language)}" dir="ltr">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<meta name="format-detection" content="telephone=no, date=no, address=no, email=no, url=no">
<title>${escapeHtml(view.subject)}</title>
<style>${STYLE_SHEET}</style>
</head>
<body class="page" style="margin:0;padding:0;background-color:${PAGE};-webkit-text-size-adjust:100%">
<div style="display:none;max-height:0;overflow:hidden">${labelAndText(view.paid, ' ')}</div>
<table role="presentation" class="page" width="100%" cellpadding="0" cellspacing="0" border="0" style="background-color:${PAGE}">
<tr><td class="around" align="center" style="padding:32px 16px">
<table role="presentation" class="card" width="600" cellpadding="0" cellspacing="0" border="0" style="width:100%;max-width:600px;background-color:${CARD};border:1px solid ${BORDER};border-radius:8px">
<tr><td class="inside" style="padding:32px">
${head(view)}
${items(view)}
${sums(view)}
${parties(view)}
</td></tr>
</table>
<p class="muted" style="max-width:536px;margin:20px auto 0;font:12px/18px ${FACE};color:${MUTED}">${escapeHtml(view.footer)}</p>
</td></tr>
</table>
</body>
</html>
`;
}

const PAGE = '#f3f4f6';
const CARD = '#ffffff';
const BORDER = '#e5e7eb';
const INK = '#1f2937';
const MUTED = '#6b7280';

const STYLE_SHEET = `
@media (max-width:480px){.around{padding:12px 8px!important}.inside{padding:20px 16px!important}.paid{font-size:24px!important;line-height:32px!important}.party{display:block!important;width:auto!important;padding:0 0 16px!important}}
@media (prefers-color-scheme:dark){.page{background-color:#111827!important}.card{background-color:#1f2937!important;border-color:#374151!important}.ink{color:#f3f4f6!important}.muted{color:#9ca3af!important}.rule{border-color:#374151!important}}
`;

/** Size, line height and face in one, and short: a long receipt repeats it 300 times. */
const FACE = 'Helvetica,Arial,sans-serif';
const TEXT = `font:14px/20px ${FACE};color:${INK}`;
const LABEL = `font:13px/20px ${FACE};color:${MUTED}`;

function head(view: ReceiptView): string {
  return `<p class="muted" dir="auto" style="margin:0 0 4px;font:14px/20px ${FACE};color:${MUTED}">${escapeHtml(view.seller)}</p>
<h1 class="ink" style="margin:0 0 16px;font:bold 22px/28px ${FACE};color:${INK}">${escapeHtml(view.heading)}</h1>
<p class="ink" style="margin:0 0 24px;${TEXT}">${escapeHtml(view.thanks)}</p>
<p class="muted" style="margin:0;${LABEL}">${escapeHtml(view.paid.label)}</p>
<p class="ink paid" style="margin:0 0 16px;font:bold 32px/40px ${FACE};word-break:break-word;color:${INK}">${escapeHtml(view.paid.text)}</p>
<table role="presentation" cellpadding="0" cellspacing="0" border="0" style="margin:0 0 24px">
${view.facts.map(fact).join('\n')}
</table>`;
}

function fact({ label, text }: LabelledText): string {
  return `<tr><td class="muted" style="padding:2px 16px 2px 0;${LABEL}">${escapeHtml(label)}</td><td class="ink" style="padding:2px 0;${TEXT}">${escapeHtml(text)}</td></tr>`;
}

function items({ columns, lines, moreLines }: ReceiptView): string {
  const more = moreLines
    ? `\n<tr><td class="muted rule" colspan="3" style="${ROW};${LABEL}">${escapeHtml(moreLines)}</td></tr>`
    : '';
  return `<table width="100%" cellpadding="0" cellspacing="0" border="0">
<tr>${columnHead(columns.item, 'left')}${columnHead(columns.quantity, 'right')}${columnHead(columns.amount, 'right')}</tr>
${lines.map(item).join('\n')}${more}
</table>`;
}

const ROW = `padding:10px 0;border-bottom:1px solid ${BORDER}`;
const FIGURE_ROW = `padding:10px 0 10px 16px;border-bottom:1px solid ${BORDER}`;

function columnHead(label: string, align: 'left' | 'right'): string {
  const row = align === 'left' ? ROW : FIGURE_ROW;
  return `<th class="muted rule" scope="col" align="${align}" style="${row};${LABEL};font-weight:400">${escapeHtml(label)}</th>`;
}

function item(line: ReceiptView['lines'][number]): string {
  return `<tr valign="top"><td class="ink rule" dir="auto" style="${ROW};${TEXT};word-break:break-word">${escapeHtml(line.description)}</td><td class="ink rule" align="right" style="${FIGURE_ROW};${TEXT}">${escapeHtml(line.quantity)}</td><td class="ink rule" align="right" style="${FIGURE_ROW};${TEXT};white-space:nowrap">${escapeHtml(line.amount)}</td></tr>`;
}

function sums({ sums, total }: ReceiptView): string {
  return `<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="margin:12px 0 32px">
${sums.map((sum) => sumRow(sum, TEXT)).join('\n')}
${sumRow(total, `font:bold 16px/24px ${FACE};color:${INK}`)}
</table>`;
}

function sumRow({ label, text }: LabelledText, style: string): string {
  return `<tr><td class="ink" align="right" style="padding:4px 0;${style}">${escapeHtml(label)}</td><td class="ink" align="right" style="padding:4px 0 4px 24px;${style};white-space:nowrap;width:1%">${escapeHtml(text)}</td></tr>`;
}

function parties(view: ReceiptView): string {
  const cells = view.parties.map(
    (party) =>
      `<td class="party" width="50%" valign="top" style="padding:0 16px 0 0;${TEXT}"><span class="muted" style="${LABEL}">${escapeHtml(party.label)}</span>${party.lines
        .map((line) => `<br><span class="ink" dir="auto" style="color:${INK}">${escapeHtml(line)}</span>`)
        .join('')}</td>`,
  );
  return `<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0"><tr>
${cells.join('\n')}
</tr></table>`;
}

function labelAndText({ label, text }: LabelledText, separator: string): string {
  return `${escapeHtml(label)}${separator}${escapeHtml(text)}`;
}
