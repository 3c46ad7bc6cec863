import { escapeHtml, renderPage } from './page.ts';

export interface LoginForm {
  token: string;
  /** Where to go afterwards; on this server. */
  next: string;
  user?: string;
  fault?: string;
}

export function renderLoginPage(form: LoginForm): string {
  const fault = form.fault ? `<p class="fault" role="alert">${escapeHtml(form.fault)}</p>` : '';
  const user = escapeHtml(form.user ?? '');
  return renderPage({
    title: 'Log in',
    body: `<h1>Log in</h1>
<p class="lead">For operators of the job queues.</p>
${fault}
<form method="post" action="/admin/login">
<input type="hidden" name="token" value="${escapeHtml(form.token)}">
<input type="hidden" name="next" value="${escapeHtml(form.next)}">
<label for="user">User</label>
<input id="user" name="user" value="${user}" autocomplete="username" autocapitalize="none" spellcheck="false" required${user ? '' : ' autofocus'}>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required${user ? ' autofocus' : ''}>
<button type="submit">Log in</button>
</form>`,
  });
}

export function renderLogoutPage(): string {
  return renderPage({
    title: 'Log out',
    body: `<h1>Log out?</h1>
<p class="lead">The queues go on working without you.</p>
<form method="post" action="/admin/logout"><button type="submit">Log out</button></form>
<p class="aside"><a href="/admin/queues">Back to the queues</a></p>`,
  });
}
