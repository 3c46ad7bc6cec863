import { BillingError } from '../errors.ts';
import type { Terminal } from './terminal.ts';

const LENGTH_MIN = 12;

/** Reads a password from standard input, so that it stands in no history and no list of processes. */
export async function runHashPassword(
  input: AsyncIterable<Buffer | string>,
  needs: { hashPassword: (password: string) => Promise<string>; terminal: Terminal },
): Promise<number> {
  let text = '';
  for await (const chunk of input) text += chunk.toString();
  const password = text.replace(/\r?\n$/, '');
  if (password.length < LENGTH_MIN) {
    throw new BillingError('invalid', `the password must have at least ${LENGTH_MIN} characters`);
  }
  needs.terminal.print(await needs.hashPassword(password));
  return 0;
}
