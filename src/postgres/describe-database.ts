/** Host, port and database of a connection string, without user or password: fit for logs and errors. */
export function describeDatabase(databaseUrl: string): string {
  const url = URL.canParse(databaseUrl) ? new URL(databaseUrl) : null;
  if (!url) return 'an address that cannot be read';
  return `${url.hostname || 'localhost'}:${url.port || '5432'}${url.pathname}`;
}
