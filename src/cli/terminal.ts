/** Where a command writes: results to standard output, everything said about them to standard error. */
export interface Terminal {
  print(line: string): void;
  error(line: string): void;
}

export const processTerminal: Terminal = {
  print: (line) => void process.stdout.write(`${line}\n`),
  error: (line) => void process.stderr.write(`${line}\n`),
};
