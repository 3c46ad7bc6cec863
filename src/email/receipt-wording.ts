/** Every word of a receipt in one language. Amounts, dates and names come in as they are to be shown. */
export interface ReceiptWording {
  /** BCP 47; for `lang` and the names of countries. */
  language: string;
  subject(invoiceNumber: string, seller: string): string;
  heading: string;
  thanks: string;
  amountPaid: string;
  paidOn: string;
  invoiceNumber: string;
  issuedOn: string;
  billedTo: string;
  from: string;
  taxNumber(number: string): string;
  item: string;
  quantity: string;
  /** Of a line: before tax and before the discounts of the whole invoice. */
  amount: string;
  moreLines(count: number, shown: string): string;
  subtotal: string;
  discount: string;
  charge: string;
  /** `category` is a code of UNCL5305, as used by EN 16931. */
  tax(category: string, ratePercent: string): string;
  total(currency: string): string;
  footer(seller: string): string;
}

const english: ReceiptWording = {
  language: 'en',
  subject: (invoiceNumber, seller) => `Receipt for invoice ${invoiceNumber} from ${seller}`,
  heading: 'Receipt',
  thanks: 'Thank you. We have received your payment.',
  amountPaid: 'Amount paid',
  paidOn: 'Paid on',
  invoiceNumber: 'Invoice',
  issuedOn: 'Issued on',
  billedTo: 'Billed to',
  from: 'From',
  taxNumber: (number) => `Tax number ${number}`,
  item: 'Item',
  quantity: 'Qty',
  amount: 'Amount',
  moreLines: (count, shown) => (count === 1 ? `and ${shown} more line` : `and ${shown} more lines`),
  subtotal: 'Subtotal',
  discount: 'Discount',
  charge: 'Additional charges',
  tax: (category, ratePercent) => ENGLISH_TAXES[category] ?? `Tax ${ratePercent}`,
  total: (currency) => `Total (${currency})`,
  footer: (seller) =>
    `${seller} sent you this receipt because the invoice above was paid. Please keep it for your records.`,
};

const ENGLISH_TAXES: Record<string, string> = {
  AE: 'Tax (reverse charge)',
  E: 'Tax (exempt)',
  G: 'Tax (export)',
  K: 'Tax (intra-Community supply)',
  O: 'Not subject to tax',
};

/** A further language is one more entry: its tag (`de`, or `pt-BR` beside `pt`) and its words. */
const WORDINGS: Record<string, ReceiptWording> = { en: english };

/** The wording closest to a locale: `de-AT`, else `de`, else English. */
export function receiptWordingFor(locale: string): ReceiptWording {
  const language = locale.split('-')[0] ?? '';
  return WORDINGS[locale] ?? WORDINGS[language] ?? english;
}
