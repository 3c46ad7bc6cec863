/** The demo talks to the API as a customer's system would. */
import type { DemoDraft } from './demo-drafts.ts';

const REQUESTS_AT_ONCE = 8;

export interface Refusal {
  externalId: string;
  reason: string;
}

/** Creates each draft and asks for its finalization. */
export async function submitDrafts(
  apiUrl: string,
  apiKey: string,
  drafts: readonly DemoDraft[],
): Promise<Refusal[]> {
  const refusals: Refusal[] = [];
  const waiting = [...drafts];
  const submitNext = async () => {
    for (let draft = waiting.shift(); draft; draft = waiting.shift()) {
      const reason =
        (await post(`${apiUrl}/v1/invoices`, apiKey, draft)) ??
        (await post(
          `${apiUrl}/v1/invoices/${encodeURIComponent(`ext:${draft.externalId}`)}/finalize`,
          apiKey,
          null,
        ));
      if (reason !== null) refusals.push({ externalId: draft.externalId, reason });
    }
  };
  await Promise.all(Array.from({ length: REQUESTS_AT_ONCE }, submitNext));
  return refusals;
}

/** Null, or why it was refused. */
async function post(url: string, apiKey: string, body: unknown): Promise<string | null> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${apiKey}`,
      ...(body === null ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === null ? {} : { body: JSON.stringify(body) }),
  });
  if (response.ok) {
    await response.arrayBuffer();
    return null;
  }
  return `${response.status}: ${(await response.text()).slice(0, 500)}`;
}
