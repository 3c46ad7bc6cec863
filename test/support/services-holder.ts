/** A process that opens the services, says so, and ends in the way that the first line of its input asks for. */
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { openServices } from '../../src/demo/services/open-services.ts';

console.log('opening');
const services = await openServices({
  announce() {},
  environment: { PATH: process.env.PATH, SERVICES: 'embedded' },
});
console.log('open');
const input = createInterface({ input: process.stdin });
const [end] = await once(input, 'line');
input.close();
process.stdin.destroy(); // or it would hold the process up after `close`
if (end === 'close') await services.close();
if (end === 'exit') process.exit(1);
if (end === 'throw') throw new Error('a fault of the caller');
