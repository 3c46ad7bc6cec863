/** The frame of our own few pages: no scripts, no fonts or pictures from elsewhere, light or dark as the reader likes. */
export function renderPage(page: { title: string; body: string }): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(page.title)} · Billonce</title>
<link rel="icon" href="${ICON}">
<style>${STYLE}</style>
</head>
<body>
<main>
<p class="brand">${MARK}Billonce</p>
${page.body}
</main>
</body>
</html>
`;
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

const MARK_SHAPES =
  '<rect width="24" height="24" rx="6" fill="#3b5bdb"/><path d="M8 7l4-2v14" fill="none" stroke="#fff" stroke-width="2.5" stroke-linecap="round" stroke-linejoin="round"/>';
const MARK = `<svg viewBox="0 0 24 24" width="24" height="24" aria-hidden="true">${MARK_SHAPES}</svg>`;
export const ICON = `data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24">${MARK_SHAPES}</svg>`)}`;

const STYLE = `
:root { --page: #f1f3f5; --card: #fff; --text: #1c2128; --quiet: #5c6570; --line: #d0d7de; --accent: #3b5bdb; --accent-strong: #2f4ac0; --on-accent: #fff; --bad: #b3261e; --bad-page: #fdecea; }
@media (prefers-color-scheme: dark) {
  :root { --page: #0f1318; --card: #191f27; --text: #e6eaef; --quiet: #9aa5b1; --line: #333c47; --accent: #4c6ef5; --accent-strong: #6482f7; --on-accent: #fff; --bad: #ffb4ab; --bad-page: #3b1a18; }
}
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1.5rem; background: var(--page); color: var(--text); font: 16px/1.5 system-ui, sans-serif; }
main { width: 100%; max-width: 23rem; padding: 2rem; background: var(--card); border: 1px solid var(--line); border-radius: 12px; box-shadow: 0 8px 24px rgb(0 0 0 / .08); }
.brand { display: flex; align-items: center; gap: .6rem; margin: 0 0 1.25rem; font-weight: 600; }
h1 { margin: 0 0 .25rem; font-size: 1.35rem; line-height: 1.3; }
.lead { margin: 0 0 1.5rem; color: var(--quiet); }
label { display: block; margin-bottom: .3rem; font-size: .9rem; font-weight: 500; }
input { width: 100%; margin-bottom: 1.1rem; padding: .6rem .75rem; border: 1px solid var(--line); border-radius: 8px; background: var(--page); color: inherit; font: inherit; }
button { width: 100%; margin-top: .25rem; padding: .7rem; border: 0; border-radius: 8px; background: var(--accent); color: var(--on-accent); font: inherit; font-weight: 600; cursor: pointer; }
button:hover { background: var(--accent-strong); }
input:focus-visible, button:focus-visible, a:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.fault { margin: 0 0 1.25rem; padding: .6rem .75rem; border-radius: 8px; background: var(--bad-page); color: var(--bad); font-size: .95rem; }
ul { list-style: none; margin: 0; padding: 0; }
li + li { border-top: 1px solid var(--line); }
li a { display: block; padding: .75rem 0; color: inherit; text-decoration: none; font-weight: 500; }
li a:hover { color: var(--accent); }
li small { display: block; color: var(--quiet); font-weight: 400; }
a { color: var(--accent); }
.aside { margin: 1.25rem 0 0; text-align: center; font-size: .9rem; }
`;
