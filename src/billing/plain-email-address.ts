/**
 * One plain address, `local@host.domain` in ASCII, and nothing else that mail headers allow: no display name, group,
 * list, comment, quoted part or address literal. Each of those has been a way to reach somebody else.
 */
export function isPlainEmailAddress(text: string): boolean {
  if (text.length > ADDRESS_LENGTH_MAX) return false;
  const [local, domain, ...more] = text.split('@');
  if (local === undefined || domain === undefined || more.length > 0) return false;
  if (local.length > LOCAL_LENGTH_MAX || !LOCAL_PART.test(local)) return false;
  return DOMAIN.test(domain) && !ALL_DIGITS.test(domain);
}

/** RFC 5321, 4.5.3.1, with the correction of RFC 3696. */
const ADDRESS_LENGTH_MAX = 254;
const LOCAL_LENGTH_MAX = 64;

/** RFC 5322's dot-atom. */
const LOCAL_PART = /^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*$/;
/** Two labels at least: mail to a bare host name goes to wherever the mail server happens to stand. */
const DOMAIN = /^(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)+[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/i;
/** A last label of digits makes it an IP address. */
const ALL_DIGITS = /(?:^|\.)\d+$/;
