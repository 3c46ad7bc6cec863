import { isPlainEmailAddress } from '../billing/plain-email-address.ts';
import type { MailMessage } from '../operations/ports.ts';

export type MailEnvelope = { from: string; to: string[] } | { fault: string };

/** A receipt has a few readers; a longer list is a mistake. */
const RECIPIENTS_MAX = 50;

/**
 * Who sends to whom, each address once, or why this message can never be sent. Faults name places, not addresses.
 */
export function envelopeOf(message: MailMessage): MailEnvelope {
  if (!MESSAGE_ID.test(message.messageId)) return { fault: 'the Message-ID is malformed' };
  if (!isPlainEmailAddress(message.fromAddress)) return { fault: 'the sender is not a plain address' };
  const count = message.to.length;
  if (count === 0) return { fault: 'there is no recipient' };
  if (count > RECIPIENTS_MAX) return { fault: `${count} recipients are more than ${RECIPIENTS_MAX}` };
  const bad = message.to.findIndex((address) => !isPlainEmailAddress(address));
  if (bad >= 0) return { fault: `recipient ${bad + 1} of ${count} is not a plain address` };
  return { from: message.fromAddress, to: [...new Set(message.to)] };
}

const MESSAGE_ID = /^<[\w!#$%&'*+/=?^`{|}~.-]{1,128}@[\w.-]{1,128}>$/;
