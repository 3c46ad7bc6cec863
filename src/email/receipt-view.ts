import type { Address, PartySnapshot, ReceiptContent } from '../operations/ports.ts';
import { oneLine } from './plain-text.ts';
import { type ReceiptFigures, receiptFigures } from './receipt-figures.ts';
import { type ReceiptWording, receiptWordingFor } from './receipt-wording.ts';

/** A receipt in words, the same for both forms: every text is final, one clean line, and not yet escaped. */
export interface ReceiptView {
  language: string;
  subject: string;
  seller: string;
  heading: string;
  thanks: string;
  paid: LabelledText;
  facts: LabelledText[];
  columns: { item: string; quantity: string; amount: string };
  lines: { description: string; quantity: string; amount: string }[];
  /** What stands for the lines that are not shown. */
  moreLines: string | null;
  sums: LabelledText[];
  total: LabelledText;
  parties: { label: string; lines: string[] }[];
  footer: string;
}

export interface LabelledText {
  label: string;
  text: string;
}

/** Mail readers cut a mail at about 100 kB; the invoice itself has every line. */
const LINES_SHOWN_MAX = 100;
const DESCRIPTION_LENGTH_MAX = 200;
const NAME_LENGTH_MAX = 100;
const CURRENCY_LENGTH_MAX = 10;
const SUBJECT_LENGTH_MAX = 150;

export function receiptView(content: ReceiptContent): ReceiptView {
  const wording = receiptWordingFor(content.locale);
  const currency = oneLine(content.currency, CURRENCY_LENGTH_MAX);
  const figures = receiptFigures(content.locale, currency);
  const seller = oneLine(content.seller.name, NAME_LENGTH_MAX);
  const number = oneLine(content.invoiceNumber, NAME_LENGTH_MAX);
  return {
    language: wording.language,
    subject: oneLine(wording.subject(number, seller), SUBJECT_LENGTH_MAX),
    seller,
    heading: wording.heading,
    thanks: wording.thanks,
    paid: { label: wording.amountPaid, text: figures.amount(content.paidMinor) },
    facts: [
      { label: wording.paidOn, text: oneLine(figures.date(content.paidDate), NAME_LENGTH_MAX) },
      { label: wording.invoiceNumber, text: number },
      { label: wording.issuedOn, text: oneLine(figures.date(content.issueDate), NAME_LENGTH_MAX) },
    ],
    columns: { item: wording.item, quantity: wording.quantity, amount: wording.amount },
    lines: content.lines.slice(0, LINES_SHOWN_MAX).map((line) => ({
      description: oneLine(line.description, DESCRIPTION_LENGTH_MAX),
      quantity: oneLine(figures.quantity(line.quantity), NAME_LENGTH_MAX),
      amount: figures.amount(line.netMinor),
    })),
    moreLines: moreLinesOf(content.lines.length - LINES_SHOWN_MAX, wording, figures),
    sums: sumsOf(content, wording, figures),
    total: {
      label: wording.total(currency),
      text: figures.amount(content.totalMinor),
    },
    parties: [
      { label: wording.billedTo, lines: partyLines(content.customer, wording) },
      { label: wording.from, lines: partyLines(content.seller, wording) },
    ],
    footer: wording.footer(seller),
  };
}

function moreLinesOf(count: number, wording: ReceiptWording, figures: ReceiptFigures): string | null {
  return count > 0 ? wording.moreLines(count, figures.count(count)) : null;
}

function sumsOf(content: ReceiptContent, wording: ReceiptWording, figures: ReceiptFigures): LabelledText[] {
  const sums = [{ label: wording.subtotal, text: figures.amount(content.subtotalMinor) }];
  if (content.discountMinor !== 0n) {
    sums.push({ label: wording.discount, text: figures.amount(-content.discountMinor) });
  }
  if (content.chargeMinor !== 0n)
    sums.push({ label: wording.charge, text: figures.amount(content.chargeMinor) });
  for (const tax of content.taxes) {
    // "Not subject to tax" says something only beside lines that are.
    if (tax.category === 'O' && content.taxes.length === 1) continue;
    const label = wording.tax(tax.category, figures.percent(tax.ratePercent));
    sums.push({ label: oneLine(label, NAME_LENGTH_MAX), text: figures.amount(tax.taxMinor) });
  }
  return sums;
}

function partyLines(party: PartySnapshot, wording: ReceiptWording): string[] {
  const lines = [party.name, ...addressLines(party.address, wording)];
  if (party.taxNumber) lines.push(wording.taxNumber(party.taxNumber));
  return lines.map((line) => oneLine(line, NAME_LENGTH_MAX)).filter((line) => line !== '');
}

function addressLines(address: Address | null, wording: ReceiptWording): string[] {
  if (!address) return [];
  const city = [address.postalCode, address.city].filter(Boolean).join(' ');
  const cityAndState = [city, address.state].filter(Boolean).join(', ');
  return [
    address.line1 ?? '',
    address.line2 ?? '',
    cityAndState,
    countryName(address.country ?? '', wording.language),
  ];
}

function countryName(country: string, language: string): string {
  if (!/^[A-Z]{2}$/.test(country)) return country;
  const names = countryNames.get(language) ?? new Intl.DisplayNames([language], { type: 'region' });
  countryNames.set(language, names);
  return names.of(country) ?? country;
}

const countryNames = new Map<string, Intl.DisplayNames>();
