/**
 * How the gateway misbehaves, chosen by the payment method: `pm_<fault>`. One entry a fault, plain data; what the
 * fields mean is carried out in `capture-route.ts`.
 */
import { createHash } from 'node:crypto';

export type Verdict = { status: 'captured' } | { status: 'declined'; declineCode: string };

export interface SandboxFault {
  verdict: Verdict;
  /**
   * What happens to the first call with a key: its connection is cut, before anything was done or after everything
   * was. The caller cannot tell one from the other.
   */
  firstSend?: 'cut_before' | 'cut_after';
  /** Thinks for the configured time, and executes at its end. */
  slow?: true;
}

const CAPTURED: Verdict = { status: 'captured' };

const FAULTS = {
  ok: { verdict: CAPTURED },
  ok_lost_reply: { verdict: CAPTURED, firstSend: 'cut_after' },
  not_executed: { verdict: CAPTURED, firstSend: 'cut_before' },
  slow: { verdict: CAPTURED, slow: true },
  decline_retry: { verdict: declined('insufficient_funds') },
  decline_act: { verdict: declined('expired_card') },
  decline_stop: { verdict: declined('stolen_card') },
} satisfies Record<string, SandboxFault>;

const BY_NAME = new Map<string, SandboxFault>(Object.entries(FAULTS));
const PREFIX = 'pm_';
/** Takes one of the others, by seed and key. */
const SEEDED = 'pm_seeded';
const NAMES = [...BY_NAME.keys()];

/** Null for a payment method that is not known here. */
export function faultOf(paymentMethod: string, seed: string, key: string): SandboxFault | null {
  if (paymentMethod === SEEDED) return seededFault(seed, key);
  if (!paymentMethod.startsWith(PREFIX)) return null;
  return BY_NAME.get(paymentMethod.slice(PREFIX.length)) ?? null;
}

/** Half of the keys go well, the rest is spread evenly. It depends on seed and key alone, not on any order. */
function seededFault(seed: string, key: string): SandboxFault {
  const draw = createHash('sha256').update(`${seed}:${key}`).digest();
  const name = draw.readUInt8(0) < 128 ? 'ok' : NAMES[draw.readUInt32BE(4) % NAMES.length];
  return BY_NAME.get(name ?? 'ok') ?? FAULTS.ok;
}

function declined(declineCode: string): Verdict {
  return { status: 'declined', declineCode };
}
