import { describe, expect, test, vi } from 'vitest';
import { safeNext } from '../../../src/http/operator/login.ts';
import { cookiesOf, logIn } from '../../support/board-world.ts';
import { BOARD, type HttpWorld, openHttpWorld } from '../../support/http-world.ts';

describe('logging in', () => {
  test('opens the board, with a cookie that scripts and other sites cannot use', async () => {
    await using world = await openHttpWorld();
    const { response, cookie } = await logIn(world.url);
    expect([response.status, response.headers.get('location')]).toEqual([303, '/admin/queues']);
    const [set = ''] = response.headers.getSetCookie();
    expect(set).toMatch(/HttpOnly/);
    expect(set).toMatch(/SameSite=Strict/);
    expect(set).not.toMatch(/Secure/);
    expect((await open(world, '/admin/queues', cookie)).status).toBe(200);
  });

  test('gives a new session each time', async () => {
    await using world = await openHttpWorld();
    expect((await logIn(world.url)).cookie).not.toBe((await logIn(world.url)).cookie);
  });

  test('in production the cookie is for HTTPS only', async () => {
    await using world = await openHttpWorld({ production: true });
    const { response } = await logIn(world.url);
    expect(response.headers.getSetCookie()[0]).toMatch(/^__Host-billonce-session=.*; Secure/);
  });

  test('is refused with a wrong password, and with a wrong user', async () => {
    await using world = await openHttpWorld();
    const { response } = await logIn(world.url, 'wrong');
    expect(response.status).toBe(401);
    expect(await response.text()).toContain('User or password is wrong');
    const other = await send(world, { user: 'root', password: BOARD.password });
    expect([other.status, cookiesOf(other)]).toEqual([401, '']);
  });

  test('is refused without the token of the form, or with one that was made up', async () => {
    await using world = await openHttpWorld();
    const user = { user: BOARD.user, password: BOARD.password };
    expect((await send(world, user, { token: '' })).status).toBe(403);
    expect((await send(world, user, { token: 'x.y' })).status).toBe(403);
    expect((await send(world, user, { cookie: '' })).status).toBe(403);
  });

  test('two tabs with the form work both', async () => {
    await using world = await openHttpWorld();
    const first = await fetch(`${world.url}/admin/login`);
    const cookie = cookiesOf(first);
    const second = await fetch(`${world.url}/admin/login`, { headers: { cookie } });
    expect(tokenIn(await second.text())).toBe(tokenIn(await first.text()));
  });

  test('is throttled, even with the right password', async () => {
    await using world = await openHttpWorld({ limits: { attempts: 2 } });
    expect((await logIn(world.url, 'wrong')).response.status).toBe(401);
    expect((await logIn(world.url, 'wrong')).response.status).toBe(401);
    const { response } = await logIn(world.url);
    expect(response.status).toBe(429);
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await response.text()).toContain('Too many attempts');
  });

  test('says nothing to the log about what was typed', async () => {
    await using world = await openHttpWorld();
    await send(world, { user: 'a-typed-user', password: 'a-typed-password' });
    await logIn(world.url);
    expect(JSON.stringify(world.logLines)).not.toMatch(/a-typed|correct horse|billonce-session/);
  });
});

describe('sessions', () => {
  test.each(['/admin', '/admin/queues', '/admin/queues/queue/billing?status=failed'])(
    'somebody who is not logged in is sent from %s to the log-in page',
    async (path) => {
      await using world = await openHttpWorld();
      let at = path;
      for (let hops = 0; hops < 3 && !at.startsWith('/admin/login'); hops += 1) {
        const answer = await open(world, at);
        expect(answer.status).toBe(303);
        at = answer.headers.get('location') ?? '';
      }
      expect(at).toMatch(/^\/admin\/login\?next=%2Fadmin%2Fqueues/);
    },
  );

  test('log-in leads back to the page that was asked for', async () => {
    await using world = await openHttpWorld();
    const next = '/admin/queues/queue/billing?status=failed';
    const response = await send(world, { user: BOARD.user, password: BOARD.password, next });
    expect(response.headers.get('location')).toBe(next);
  });

  test.each([
    undefined,
    ['/admin/queues', '/admin/invoices/1'],
    'https://evil.example',
    '//evil.example',
    '/admin//evil.example',
    '/admin/../..//evil.example',
    '/admin/\\evil.example',
    '/admin/queues\r\nset-cookie: a=b',
    '/admin/login',
    '/admin/logout',
    '/v1/invoices',
  ])('%j is no page to lead back to', (next) => {
    expect(safeNext(next)).toBe('/admin/queues');
  });

  test.each(['/admin/queues/api/queues', '/admin/queues/api/redis/stats'])(
    '%s is 401 without one',
    async (path) => {
      await using world = await openHttpWorld();
      const answer = await open(world, path);
      expect(answer.status).toBe(401);
      expect(await answer.text()).not.toContain('queues":');
    },
  );

  test('a cookie that was changed is worth nothing', async () => {
    await using world = await openHttpWorld();
    const { cookie } = await logIn(world.url);
    const later = cookie.replace(/=(\d+)\./, (_, seconds) => `=${Number(seconds) + 1}.`);
    expect((await open(world, '/admin/queues', later)).status).toBe(303);
    expect((await open(world, '/admin/queues', cookie)).status).toBe(200);
  });

  test('they hold in another process with the same secret, and end when password or secret change', async () => {
    await using first = await openHttpWorld();
    await using second = await openHttpWorld();
    await using otherSecret = await openHttpWorld({ board: { ...BOARD, sessionSecret: 'x'.repeat(40) } });
    const passwordHash = BOARD.passwordHash.replace('c2Fsd', 'c2FsZ');
    await using otherPassword = await openHttpWorld({ board: { ...BOARD, passwordHash } });
    const { cookie } = await logIn(first.url);
    const statuses = await Promise.all(
      [second, otherSecret, otherPassword].map(
        async (world) => (await open(world, '/admin/queues', cookie)).status,
      ),
    );
    expect(statuses).toEqual([200, 303, 303]);
  });

  test('they end after 8 hours', async () => {
    await using world = await openHttpWorld();
    const { cookie } = await logIn(world.url);
    vi.useFakeTimers({ toFake: ['Date'] });
    try {
      vi.setSystemTime(Date.now() + 8 * 60 * 60_000 - 60_000);
      expect((await open(world, '/admin/queues', cookie)).status).toBe(200);
      vi.setSystemTime(Date.now() + 2 * 60_000);
      expect((await open(world, '/admin/queues', cookie)).status).toBe(303);
    } finally {
      vi.useRealTimers();
    }
  });

  test('the form token is no session', async () => {
    await using world = await openHttpWorld();
    const value = cookiesOf(await fetch(`${world.url}/admin/login`)).split('=')[1];
    expect((await open(world, '/admin/queues', `billonce-session=${value}`)).status).toBe(303);
  });

  test('logging out takes the cookie away', async () => {
    await using world = await openHttpWorld();
    const { cookie } = await logIn(world.url);
    const response = await fetch(`${world.url}/admin/logout`, {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie, origin: world.url },
    });
    expect(response.headers.get('location')).toBe('/admin/login');
    expect(response.headers.getSetCookie()[0]).toMatch(
      /^billonce-session=;.*(Expires=Thu, 01 Jan 1970|Max-Age=0)/,
    );
  });
});

describe('changes from elsewhere', () => {
  test.each([
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['a sibling site', { 'sec-fetch-site': 'same-site' }],
    ['another origin', { origin: 'https://evil.example' }],
    ['an origin without a name', { origin: 'null' }],
    ['nowhere', {}],
  ])('from %s are refused', async (_where, headers) => {
    await using world = await openHttpWorld();
    const { cookie } = await logIn(world.url);
    for (const [method, path] of [
      ['POST', '/admin/login'],
      ['POST', '/admin/logout'],
      ['PUT', '/admin/queues/api/queues/billing/1/retry'],
    ] as const) {
      const response = await fetch(`${world.url}${path}`, { method, headers: { cookie, ...headers } });
      expect(response.status).toBe(403);
      expect(response.headers.getSetCookie()).toEqual([]);
    }
  });
});

test('a password hash that is none stops the start', async () => {
  await expect(openHttpWorld({ board: { ...BOARD, passwordHash: 'scrypt:oops' } })).rejects.toMatchObject({
    code: 'configuration',
  });
});

function open(world: HttpWorld, path: string, cookie = ''): Promise<Response> {
  return fetch(`${world.url}${path}`, { redirect: 'manual', headers: { cookie } });
}

async function send(
  world: HttpWorld,
  form: Record<string, string>,
  changes: { token?: string; cookie?: string } = {},
): Promise<Response> {
  const page = await fetch(`${world.url}/admin/login`);
  const token = changes.token ?? tokenIn(await page.text());
  return fetch(`${world.url}/admin/login`, {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie: changes.cookie ?? cookiesOf(page), origin: world.url },
    body: new URLSearchParams({ token, ...form }),
  });
}

function tokenIn(page: string): string {
  return /name="token" value="([^"]+)"/.exec(page)?.[1] ?? '';
}
