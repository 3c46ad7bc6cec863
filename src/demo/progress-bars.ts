import cliProgress from 'cli-progress';
import type { Progress } from './observe.ts';

export interface ProgressView {
  show(progress: Progress): void;
  end(): void;
}

/** A log is not a screen: there, a line every few seconds is enough. */
const LINE_EVERY_MS = 3_000;

/** Bars on a terminal; elsewhere a line now and then. */
export function openProgressView(expected: number, stream: NodeJS.WriteStream): ProgressView {
  return stream.isTTY ? openBars(expected, stream) : openLines(expected, stream);
}

function openBars(expected: number, stream: NodeJS.WriteStream): ProgressView {
  const bars = new cliProgress.MultiBar(
    {
      format: '  {name} [{bar}] {value}/{total}',
      stream,
      hideCursor: true,
      barsize: 32,
      clearOnComplete: false,
    },
    cliProgress.Presets.rect,
  );
  const created = bars.create(expected, 0, { name: 'created  ' });
  const numbered = bars.create(expected, 0, { name: 'numbered ' });
  const settled = bars.create(expected, 0, { name: 'settled  ' });
  const receipts = bars.create(expected, 0, { name: 'receipted' });
  return {
    show(progress) {
      created.update(progress.invoices);
      numbered.update(progress.numbered);
      settled.update(progress.settled);
      receipts.update(progress.receiptsEnded + (progress.settled - progress.receiptsOwed));
    },
    end: () => bars.stop(),
  };
}

function openLines(expected: number, stream: NodeJS.WriteStream): ProgressView {
  let nextMs = 0;
  return {
    show({ invoices, numbered, settled, receiptsEnded }) {
      if (performance.now() < nextMs) return;
      nextMs = performance.now() + LINE_EVERY_MS;
      const line = `  ${invoices} created, ${numbered} numbered, ${settled} settled, ${receiptsEnded} receipts of ${expected} invoices`;
      stream.write(`${line}\n`);
    },
    end() {},
  };
}
