import { currencyOf } from '../billing/currency.ts';
import { formatMoney } from '../billing/money.ts';
import type { DemoReport } from './report.ts';

/** The report for a person. */
export function describeReport(report: DemoReport): string {
  const money = Object.entries(report.gateway.capturedMinorByCurrency).map(
    ([currency, minor]) => `${formatMoney(BigInt(minor), currencyOf(currency).exponent)} ${currency}`,
  );
  const rows: [string, string][] = [
    ['Invoices', `${report.invoices}: ${describeStatuses(report)}`],
    ['Numbers', `${report.firstNumber ?? '–'} to ${report.lastNumber ?? '–'}, ${report.numberGaps} missing`],
    ['Gateway', `${report.gateway.captures} captures, ${report.gateway.duplicateCaptures} made twice`],
    ['Captured', `${money.join(', ') || 'nothing'}`],
    ['Declined', `${report.payments.declined} payments`],
    [
      'Receipts',
      `${report.receipts.sent} sent, ${report.receipts.delivered} delivered, ${report.receipts.duplicates} twice`,
    ],
    ['Lock busy', `${report.lockBusy} times`],
    ['Time', `${(report.wallMs / 1_000).toFixed(1)} s, ${report.invoicesPerSecond} invoices/s`],
  ];
  const table = rows.map(([name, value]) => `  ${name.padEnd(10)} ${value}`);
  const verdict =
    report.problems.length === 0
      ? ['', 'No problems: nothing charged twice, nothing forgotten, no gap in the numbers.']
      : ['', 'Problems:', ...report.problems.map((problem) => `  - ${problem}`)];
  return ['', ...table, ...verdict].join('\n');
}

function describeStatuses({ byStatus }: DemoReport): string {
  const some = Object.entries(byStatus).filter(([, count]) => count > 0);
  return some.map(([status, count]) => `${count} ${status}`).join(', ');
}
