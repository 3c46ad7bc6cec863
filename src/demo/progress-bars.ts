import cliProgress from 'cli-progress';
import type { Progress } from './observe.ts';

export interface ProgressView {
  show(progress: Progress): void;
  end(): void;
}

/** Bars on a terminal; elsewhere one line whenever something moved, so that a log stays readable. */
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
  let last = '';
  return {
    show({ invoices, numbered, settled, receiptsEnded }) {
      const line = `  ${invoices} created, ${numbered} numbered, ${settled} settled, ${receiptsEnded} receipts of ${expected} invoices`;
      if (line !== last) stream.write(`${line}\n`);
      last = line;
    },
    end() {},
  };
}
