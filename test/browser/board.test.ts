import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BoardWorld, openBoardWorld } from '../support/board-world.ts';
import { openBrowser, openPage } from '../support/browser.ts';
import { draftBody } from '../support/drafts.ts';
import { BOARD, KEYS } from '../support/http-world.ts';

let world: BoardWorld;
let browser: Browser;
beforeAll(async () => {
  world = await openBoardWorld();
  browser = await openBrowser();
});
afterAll(async () => {
  await browser?.close();
  await world?.[Symbol.asyncDispose]();
});

test('a wrong password is refused, and the form says so', async () => {
  const { page } = await openPage(browser, world.url);
  await page.goto('/admin');
  await logIn(page, 'wrong');
  await page.getByRole('alert').getByText('User or password is wrong').waitFor();
  expect(new URL(page.url()).pathname).toBe('/admin/login');
  expect(await page.getByLabel('User').inputValue()).toBe(BOARD.user);
  expect(await page.getByLabel('Password').inputValue()).toBe('');
  await page.goto('/admin/queues');
  expect(new URL(page.url()).pathname).toBe('/admin/login');
});

test('an operator logs in, reads the failed job and logs out, without a complaint from the browser', async () => {
  const { page, complaints } = await openPage(browser, world.url);
  await page.goto('/admin/queues/queue/billing?status=failed');
  await logIn(page);
  await page.waitForURL('**/admin/queues/queue/billing?status=failed');
  await page.getByText('the gateway cannot be reached').first().waitFor();
  await page.getByRole('link', { name: /failed/i }).waitFor();
  expect(await page.getByRole('button', { name: /retry/i }).count()).toBe(0);
  expect(await page.content()).not.toContain('Ann Example');

  await page.goto('/admin/queues');
  await page.getByText('billing').first().waitFor();
  await page.locator('header button').last().click();
  await page.getByText('Log out').click();
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.waitForURL('**/admin/login');
  await page.goto('/admin/queues');
  expect(new URL(page.url()).pathname).toBe('/admin/login');
  expect(complaints).toEqual([]);
});

test('a retry that the page itself sends is refused', async () => {
  const { page } = await openPage(browser, world.url);
  await page.goto('/admin/queues');
  await logIn(page);
  await page.waitForURL('**/admin/queues');
  const status = await page.evaluate(async (path) => {
    const response = await fetch(path, { method: 'PUT' });
    return response.status;
  }, `/admin/queues/api/queues/billing/${world.failedJobId}/retry`);
  expect(status).toBe(405);
  expect(await world.billing.getJobCounts()).toMatchObject({ failed: 1, waiting: 0, active: 0 });
});

test('the documentation opens, takes a key and tries a request, without a complaint from the browser', async () => {
  await world.call('POST', '/v1/invoices', { body: draftBody({ externalId: 'from-the-docs' }) });
  const { page, complaints } = await openPage(browser, world.url);
  await page.goto('/docs');
  await page.getByRole('button', { name: 'Authorize' }).click();
  await page.locator('.auth-container input').fill(KEYS.read);
  await page.locator('.auth-container button[type=submit]').click();
  await page.getByRole('button', { name: 'Close', exact: true }).click();

  const list = page.locator('.opblock-get', { has: page.getByText('List invoices, newest first') });
  await list.locator('.opblock-summary-control').click();
  await list.getByRole('button', { name: 'Execute' }).click();
  await list.locator('.live-responses-table').getByText('from-the-docs').first().waitFor();
  expect(complaints).toEqual([]);
});

test('the front page leads to both', async () => {
  const { page, complaints } = await openPage(browser, world.url);
  await page.goto('/');
  await page.getByRole('link', { name: /API/ }).click();
  await page.getByRole('heading', { name: /Billonce/ }).waitFor();
  await page.goto('/');
  await page.getByRole('link', { name: /Job queues/ }).click();
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
  expect(complaints).toEqual([]);
});

async function logIn(page: Page, password: string = BOARD.password): Promise<void> {
  await page.getByLabel('User').fill(BOARD.user);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
}
