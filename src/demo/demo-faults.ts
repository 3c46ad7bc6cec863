import { createHash } from 'node:crypto';

/** The sandbox's payment methods that `--faults` deals out: half of the customers get one that works. */
const FAULTS = [
  'pm_ok',
  'pm_ok',
  'pm_ok',
  'pm_ok',
  'pm_ok',
  'pm_ok_lost_reply',
  'pm_slow',
  'pm_not_executed',
  'pm_decline_retry',
  'pm_decline_stop',
] as const;

/** The same customer gets the same fault for the same seed, however often it appears. */
export function faultFor(customerExternalId: string, seed: number): string {
  const digest = createHash('sha256').update(`${seed}:${customerExternalId}`).digest();
  return FAULTS[digest.readUInt32BE(0) % FAULTS.length] ?? 'pm_ok';
}
