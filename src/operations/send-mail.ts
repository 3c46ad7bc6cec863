/**
 * One e-mail is handed over to SMTP, once: its row goes pending → sending before, and to what became of it after.
 * A process that dies in between leaves `sending`, which is never sent again by itself.
 */
import { BillingError } from '../errors.ts';
import type { ClaimedEmail, EmailStore, Mailer, MailOutcome, ReceiptContent } from './ports.ts';

export interface SendMailNeeds {
  emails: EmailStore;
  mailer: Pick<Mailer, 'send'>;
  renderReceipt: (content: ReceiptContent) => { subject: string; text: string; html: string };
  /** Used where the seller has no sender address of its own. */
  mailFrom: string;
}

export type SendMailOutcome = 'sent' | 'uncertain' | 'rejected' | 'skipped' | 'nothing-to-do';

export type SendMail = (
  input: { emailId: string },
  context: { signal?: AbortSignal },
) => Promise<SendMailOutcome>;

/** @throws BillingError `unavailable` if the mail was certainly not sent: running the job again may help */
export function makeSendMail(needs: SendMailNeeds): SendMail {
  const { emails, mailer } = needs;

  return async ({ emailId }, context) => {
    const email = await emails.claim(emailId);
    if (!email) return 'nothing-to-do';
    if (email.recipients.length === 0) {
      await emails.settle(email.id, email.sendNo, { status: 'skipped', reason: 'no_address' });
      return 'skipped';
    }
    return settle(email, await handOver(email, context.signal));
  };

  async function handOver(email: ClaimedEmail, signal: AbortSignal | undefined): Promise<MailOutcome> {
    const message = {
      messageId: email.messageId,
      fromName: email.content.seller.name,
      fromAddress: email.senderAddress ?? needs.mailFrom,
      to: email.recipients,
      ...needs.renderReceipt(email.content),
    };
    return mailer.send(message, signal ? { signal } : {});
  }

  async function settle(email: ClaimedEmail, outcome: MailOutcome): Promise<SendMailOutcome> {
    if (outcome.kind === 'sent') {
      await emails.settle(email.id, email.sendNo, { status: 'sent', reason: null });
      return 'sent';
    }
    const status = outcome.kind === 'not_sent' ? 'pending' : outcome.kind;
    await emails.settle(email.id, email.sendNo, { status, reason: outcome.reason });
    if (outcome.kind === 'not_sent')
      throw new BillingError('unavailable', `the mail was not sent: ${outcome.reason}`);
    return outcome.kind;
  }
}
