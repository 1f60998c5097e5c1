/** Since when nothing has come from a source that owes something; null while anything comes. */
export const name = '20261128T1500Z-silent-sources'

export function statements(): readonly string[] {
  return ['alter table sources add column silent_since bigint']
}
