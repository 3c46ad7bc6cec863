/** A caller of the API, as the configuration names it. */
export interface ApiKey {
  name: string;
  /** Of the key, in hex: the key itself is known to its owner alone. */
  sha256: string;
  scopes: readonly ApiScope[];
}
export type ApiScope = 'read' | 'write' | 'admin';
