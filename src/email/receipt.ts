import type { ReceiptContent } from '../operations/ports.ts';
import { receiptHtml } from './receipt-html.ts';
import { receiptText } from './receipt-text.ts';
import { receiptView } from './receipt-view.ts';

/**
 * The receipt for one payment. The same content gives the same bytes, so that a second delivery reads like the
 * first. Never throws: its e-mail's row is already being sent when it is written.
 */
export function renderReceipt(content: ReceiptContent): { subject: string; text: string; html: string } {
  const view = receiptView(content);
  return { subject: view.subject, text: receiptText(view), html: receiptHtml(view) };
}
