import type { DeclineClass } from '../operations/ports.ts';

/**
 * What a decline of the sandbox gateway asks for. The table is ours, not the gateway's word, since a class decides
 * whether a card is charged again: card networks forbid it after those that stop. A code that is not listed may pass
 * by itself.
 */
export function sandboxDeclineClass(declineCode: string): DeclineClass {
  return DECLINE_CLASSES.get(declineCode) ?? 'retry_later';
}

const DECLINE_CLASSES: ReadonlyMap<string, DeclineClass> = new Map([
  ['insufficient_funds', 'retry_later'],
  ['issuer_unavailable', 'retry_later'],
  ['try_again_later', 'retry_later'],
  ['velocity_exceeded', 'retry_later'],
  ['expired_card', 'customer_must_act'],
  ['incorrect_number', 'customer_must_act'],
  ['incorrect_security_code', 'customer_must_act'],
  ['currency_not_supported', 'customer_must_act'],
  ['authentication_required', 'customer_must_act'],
  ['card_closed', 'stop'],
  ['lost_card', 'stop'],
  ['stolen_card', 'stop'],
  ['pickup_card', 'stop'],
  ['fraudulent', 'stop'],
  ['authorization_revoked', 'stop'],
]);
