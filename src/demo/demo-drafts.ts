/** What the demo bills: a file of drafts, or invented ones that are the same for the same seed. */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { faultFor } from './demo-faults.ts';
import { seededRandom } from './seeded-random.ts';

export interface DemoDraft {
  externalId: string;
  customer: { externalId: string; paymentMethod?: string | null; [field: string]: unknown };
  [field: string]: unknown;
}

export interface DraftOptions {
  invoices: number;
  input: string | null;
  faults: boolean;
  seed: number;
}

/** Customers without a payment method get one here, and only here: an import never invents one. */
export async function demoDrafts(options: DraftOptions): Promise<DemoDraft[]> {
  const drafts = options.input === null ? inventDrafts(options) : await readDrafts(options.input);
  return drafts.map((draft) => ({
    ...draft,
    customer: {
      ...draft.customer,
      paymentMethod:
        draft.customer.paymentMethod ??
        (options.faults ? faultFor(draft.customer.externalId, options.seed) : 'pm_ok'),
    },
  }));
}

async function readDrafts(file: string): Promise<DemoDraft[]> {
  const drafts: DemoDraft[] = [];
  for await (const line of createInterface({ input: createReadStream(file, 'utf8') })) {
    if (line.trim() !== '') drafts.push(JSON.parse(line) as DemoDraft);
  }
  return drafts;
}

const PRODUCTS = [
  ['Team plan, monthly', '49.00'],
  ['Additional seat', '7.50'],
  ['Storage, per GB', '0.0345'],
  ['API calls, per 1 000', '0.12'],
  ['Priority support', '120.00'],
  ['Onboarding workshop', '480.00'],
] as const;
const CUSTOMERS = [
  ['Ada Analytics', 'DE', 'EUR', '19'],
  ['Brunel Bridges', 'GB', 'GBP', '20'],
  ['Curie Labs', 'FR', 'EUR', '20'],
  ['Dijkstra Paths', 'NL', 'EUR', '21'],
  ['Edison Electric', 'US', 'USD', '0'],
  ['Fibonacci Farms', 'IT', 'EUR', '22'],
  ['Gödel Logic', 'AT', 'EUR', '20'],
  ['Hokusai Prints', 'JP', 'JPY', '10'],
] as const;

function inventDrafts({ invoices, seed }: DraftOptions): DemoDraft[] {
  const random = seededRandom(seed);
  const below = (count: number) => Math.floor(random() * count);
  return Array.from({ length: invoices }, (_, index) => {
    const [name, country, currency, rate] = CUSTOMERS[below(CUSTOMERS.length)] ?? CUSTOMERS[0];
    const branch = 1 + below(5);
    const lines = Array.from({ length: 1 + below(4) }, () => {
      const [description, unitPrice] = PRODUCTS[below(PRODUCTS.length)] ?? PRODUCTS[0];
      return { description, quantity: String(1 + below(40)), unitPrice, taxRatePercent: rate };
    });
    const externalId = `demo-customer-${country.toLowerCase()}-${branch}`;
    return {
      externalId: `demo-${index + 1}`,
      customer: {
        externalId,
        name: `${name} ${branch}`,
        email: `${externalId}@example.test`,
        address: { line1: `${branch} Demo Street`, country },
      },
      currency,
      lines,
    };
  });
}
